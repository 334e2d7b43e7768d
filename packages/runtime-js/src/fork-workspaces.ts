import {
  type Agent,
  type OpenWorkspace,
  type SessionState,
  type WorkspaceAccess,
  WorkspaceFailedError,
  type WorkspaceRef,
} from '@helix-agents/core'
import type { RunServices } from './run/run-services.ts'
import { SessionWorkspaces } from './run/session-workspaces.ts'

type Refs = Readonly<Record<string, WorkspaceRef>>

/**
 * Forks the workspaces of a session, as they are now, where they can take snapshots; the others
 * are left out.
 */
export async function forkWorkspaces(
  services: RunServices,
  agent: Agent,
  source: SessionState,
): Promise<Refs> {
  const names = Object.values(agent.workspaces)
    .filter(({ name, capabilities }) => capabilities.snapshot && source.workspaceRefs[name])
    .map(({ name }) => name)
  if (names.length === 0) return {}
  const live = services.active.get(source.sessionId)?.registry
  return live === undefined ? forkPaused(services, agent, source, names) : forkAll(live, names)
}

/** A session that does not run is held while its workspaces are open. */
async function forkPaused(
  services: RunServices,
  agent: Agent,
  { sessionId, status, output, error }: SessionState,
  names: readonly string[],
): Promise<Refs> {
  const { stateStore, clock, leaseMs } = services
  const runId = crypto.randomUUID()
  const write = () => ({ sessionId, runId, now: clock.now() })
  const session = await stateStore.beginRun({ ...write(), leaseMs })
  const toolSet = services.toolSets.of(agent)
  const workspaces = new SessionWorkspaces({ services, session, toolSet, write })
  try {
    return await forkAll(workspaces.access, names)
  } finally {
    await workspaces.close('detach')
    await stateStore.endRun({
      ...write(),
      status: status === 'idle' || status === 'running' ? 'interrupted' : status,
      ...(output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error }),
    })
  }
}

async function forkAll(access: WorkspaceAccess, names: readonly string[]): Promise<Refs> {
  const forks = names.map(async (name) => {
    const ref = await access.use(name, (workspace) => fork(name, workspace), { idempotent: true })
    return [name, ref] as const
  })
  return Object.fromEntries(await Promise.all(forks))
}

async function fork(name: string, { live }: OpenWorkspace): Promise<WorkspaceRef> {
  const { snapshot: snapshotter } = live
  if (snapshotter === undefined) {
    throw new WorkspaceFailedError('capability-missing', `workspace ${name} takes no snapshots`)
  }
  const taken = await snapshotter.snapshot()
  return snapshotter.branch === undefined ? snapshotter.restore(taken) : snapshotter.branch(taken)
}
