import { type Agent, SessionError, StateStoreError, WorkspaceFailedError } from '@helix-agents/core'
import type { SessionRef } from '@helix-agents/core/provider'
import type { BranchSeed } from '../executor/branch-session.ts'
import type { RunServices } from '../ports.ts'
import { fillBackend, type Filled, type MoveReport } from './fill-backend.ts'
import { releaseBackend } from './provider-history.ts'
import type { CheckpointFiles } from './read-files.ts'
import { tryCollect } from './release-workspaces.ts'

/** A session of another store: its conversation and its files. */
export interface ImportSessionOptions {
  /** Id of the new session. */
  readonly sessionId: string
  /** See `loadBranchSeed`. */
  readonly seed: BranchSeed
  /** Files by the name of their workspace. The others begin empty. Default: none. */
  readonly files?: Readonly<Record<string, CheckpointFiles>>
}

/** What the new session has of the given files, by the name of the workspace. */
export type ImportReport = Readonly<Record<string, MoveReport>>

interface Import {
  readonly services: RunServices
  readonly agent: Agent
  readonly session: SessionRef
  readonly made: Map<string, Filled>
}

/**
 * Every backend is filled and compared before the session is stored. When one cannot be filled, all of
 * them are released and there is no session.
 */
export async function importSession(
  services: RunServices,
  agent: Agent,
  { sessionId, seed, files = {} }: ImportSessionOptions,
): Promise<ImportReport> {
  const { stateStore, clock } = services
  if (seed.agentType !== agent.name) {
    throw new SessionError('other-agent', sessionId, `it belongs to agent ${seed.agentType}`)
  }
  if ((await stateStore.loadSession(sessionId)) !== null) {
    throw new StateStoreError('conflict', sessionId, 'it exists already')
  }
  const made = new Map<string, Filled>()
  const work = { services, agent, session: { sessionId, agentType: agent.name }, made }
  try {
    for (const [name, source] of Object.entries(files)) await fillOne(work, name, source)
    const workspaceRefs = Object.fromEntries([...made].map(([name, { ref }]) => [name, ref]))
    await stateStore.createSession({ ...seed, sessionId, workspaceRefs, now: clock.now() })
  } catch (error) {
    await releaseMade(work)
    throw error
  }
  // What an earlier attempt has left when its process died.
  await tryCollect(services, agent, { sessionId })
  return Object.fromEntries([...made].map(([name, { report }]) => [name, report]))
}

async function fillOne(
  { services, agent, session, made }: Import,
  name: string,
  source: CheckpointFiles,
): Promise<void> {
  const declaration = Object.hasOwn(agent.workspaces, name) ? agent.workspaces[name] : undefined
  if (declaration === undefined) {
    const detail = `agent ${agent.name} has no workspace "${name}"`
    throw new WorkspaceFailedError('config-invalid', detail)
  }
  const { losses = [] } = source
  const content = { source, losses, event: 'was copied from another session' }
  made.set(name, await fillBackend({ services, session, declaration }, content))
}

async function releaseMade({ services, agent, session, made }: Import): Promise<void> {
  for (const [name, { ref }] of made) {
    const declaration = agent.workspaces[name]
    if (declaration !== undefined) await releaseBackend(services, ref, { session, declaration })
  }
}
