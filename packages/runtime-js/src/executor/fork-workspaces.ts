import {
  type Agent,
  type OpenWorkspace,
  type WorkspaceAccess,
  WorkspaceFailedError,
} from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { SessionState } from '@helix-agents/core/runtime'
import { releaseRefs } from '../session/end-refs.ts'
import { holdSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from '../session/session-workspaces.ts'

type Refs = Readonly<Record<string, WorkspaceRef>>

export interface ForkOptions {
  readonly source: SessionState
  /** The session that the forks are for. */
  readonly sessionId: string
}

/**
 * Forks the workspaces of a session, as they are now, where they can take snapshots; the others
 * are left out. When one cannot be forked, none is: the others are ended.
 */
export async function forkWorkspaces(
  services: RunServices,
  agent: Agent,
  { source, sessionId }: ForkOptions,
): Promise<Refs> {
  const names = Object.values(agent.workspaces)
    .filter(({ name, capabilities }) => capabilities.snapshot && hasRef(source, name))
    .map(({ name }) => name)
  if (names.length === 0) return {}
  const forks = new Map<string, WorkspaceRef>()
  const forkInto = (access: WorkspaceAccess): Promise<void> => forkAll(access, names, forks)
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

/** Waits for all of them, also when one fails: what was made must be known. */
async function forkAll(
  access: WorkspaceAccess,
  names: readonly string[],
  forks: Map<string, WorkspaceRef>,
): Promise<void> {
  const attempts = names.map(async (name) => {
    const made = await access.use(name, (workspace) => fork(name, workspace), { idempotent: true })
    forks.set(name, made)
  })
  await Promise.allSettled(attempts)
  await Promise.all(attempts)
}

async function fork(name: string, { live }: OpenWorkspace): Promise<WorkspaceRef> {
  const { snapshot: snapshotter } = live
  if (snapshotter === undefined) {
    throw new WorkspaceFailedError('capability-missing', `workspace ${name} takes no snapshots`)
  }
  const taken = await snapshotter.snapshot()
  return snapshotter.branch === undefined ? snapshotter.restore(taken) : snapshotter.branch(taken)
}
