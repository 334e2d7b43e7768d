import {
  type Agent,
  type OpenWorkspace,
  type WorkspaceAccess,
  WorkspaceFailedError,
} from '@helix-agents/core'
import type { SnapshotRef, Snapshotter, WorkspaceRef } from '@helix-agents/core/provider'
import type { SessionState } from '@helix-agents/core/runtime'
import { restoreFiles, type WantedFiles } from '../history/checkpoint-files.ts'
import type { Making } from '../history/making.ts'
import { historyOf, removeSnapshot } from '../history/provider-history.ts'
import { declarationOf, releaseRefs } from '../session/end-refs.ts'
import { holdSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from '../session/session-workspaces.ts'

type Refs = Readonly<Record<string, WorkspaceRef>>

export interface ForkOptions {
  readonly source: SessionState
  /** The session that the forks are for. */
  readonly sessionId: string
  /** Records what is about to be made for it. */
  readonly making: Making
}

/**
 * Forks the workspaces of a session, as they are now, where they can take snapshots; the others
 * are left out. When one cannot be forked, none is: the others are ended.
 */
export async function forkWorkspaces(
  services: RunServices,
  agent: Agent,
  options: ForkOptions,
): Promise<Refs> {
  const { source, sessionId } = options
  const names = Object.values(agent.workspaces)
    .filter(({ name, capabilities }) => capabilities.snapshot && hasRef(source, name))
    .map(({ name }) => name)
  if (names.length === 0) return {}
  const forks = new Map<string, WorkspaceRef>()
  const forkInto = (access: WorkspaceAccess): Promise<void> =>
    forkAll({ ...options, services, agent, access, forks }, names)
  try {
    const live = services.active.get(source.sessionId)?.registry
    await (live === undefined ? forkPaused(services, agent, { source, forkInto }) : forkInto(live))
  } catch (error) {
    await releaseRefs(services, agent, { sessionId, refs: Object.fromEntries(forks) })
    throw error
  }
  return Object.fromEntries(forks)
}

function hasRef({ workspaceRefs }: SessionState, name: string): boolean {
  return Object.hasOwn(workspaceRefs, name)
}

interface PausedFork {
  readonly source: SessionState
  readonly forkInto: (access: WorkspaceAccess) => Promise<void>
}

/** A session that does not run is held while its workspaces are open. */
function forkPaused(
  services: RunServices,
  agent: Agent,
  { source, forkInto }: PausedFork,
): Promise<void> {
  return holdSession(services, source.sessionId, {
    work: async ({ session, lease }) => {
      const toolSet = services.toolSets.of(agent)
      const saveRef = saveRefsOf(services, lease)
      const workspaces = new SessionWorkspaces({ services, session, toolSet, saveRef })
      try {
        await forkInto(workspaces.access)
      } finally {
        await workspaces.close('detach')
      }
    },
  })
}

interface Forking extends ForkOptions {
  readonly services: RunServices
  readonly agent: Agent
  readonly access: WorkspaceAccess
  readonly forks: Map<string, WorkspaceRef>
}

/** Waits for all of them, also when one fails: what was made must be known. */
async function forkAll(forking: Forking, names: readonly string[]): Promise<void> {
  const { access } = forking
  const taken = new Map<string, SnapshotRef>()
  const attempts = names.map((name) =>
    access.use(name, (open) => fork({ ...forking, taken }, name, open), { idempotent: true }),
  )
  try {
    await Promise.allSettled(attempts)
    await Promise.all(attempts)
    await restoreTaken(forking, taken)
  } finally {
    for (const snapshot of taken.values()) await removeSnapshot(forking.services, snapshot)
  }
}

/**
 * With a history the provider makes it for the session that it is for. Others fork what is open; whoever
 * resolves such a fork first has it.
 */
async function fork(
  { services, source, forks, taken }: Forking & { readonly taken: Map<string, SnapshotRef> },
  name: string,
  { live }: OpenWorkspace,
): Promise<void> {
  const { snapshot: snapshotter } = live
  if (snapshotter === undefined) {
    throw new WorkspaceFailedError('capability-missing', `workspace ${name} takes no snapshots`)
  }
  const { providerId = '' } = source.workspaceRefs[name] ?? {}
  if (historyOf(services, providerId) !== undefined) {
    // What is kept is found when this process dies.
    taken.set(name, await snapshotter.snapshot({ keep: true }))
    return
  }
  forks.set(name, await forkOpen(snapshotter))
}

async function forkOpen(snapshotter: Snapshotter): Promise<WorkspaceRef> {
  const snapshot = await snapshotter.snapshot()
  return snapshotter.branch === undefined
    ? snapshotter.restore(snapshot)
    : snapshotter.branch(snapshot)
}

async function restoreTaken(
  { services, agent, source, sessionId, making, forks }: Forking,
  taken: ReadonlyMap<string, SnapshotRef>,
): Promise<void> {
  const files = [...taken].flatMap(([name, snapshot]): readonly WantedFiles[] => {
    const ref = source.workspaceRefs[name]
    return ref === undefined ? [] : [{ declaration: declarationOf(agent, name, ref), snapshot }]
  })
  const session = { sessionId, agentType: agent.name }
  const made = await restoreFiles(services, { session, files, allowCrossSession: true, making })
  for (const [name, ref] of Object.entries(made)) if (ref !== null) forks.set(name, ref)
}
