import { type Agent, SessionError, StateStoreError, WorkspaceFailedError } from '@helix-agents/core'
import { logMessages, type SessionRef } from '@helix-agents/core/provider'
import type { WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { BranchSeed } from '../../executor/branch-session.ts'
import type { RunServices } from '../../ports.ts'
import { fillBackend, type Filled, type MoveReport } from '../fill-backend.ts'
import { ImportAttempt } from './import-attempt.ts'
import { releaseBackend } from '../provider-history.ts'
import type { CheckpointFiles } from '../read-files.ts'
import { tryCollect } from '../release-workspaces.ts'

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

/** One workspace of the new session. */
interface Wanted {
  readonly declaration: WorkspaceDeclaration
  readonly source: CheckpointFiles
}

interface Import {
  readonly services: RunServices
  readonly session: SessionRef
  readonly attempt: ImportAttempt
  readonly made: Map<WorkspaceDeclaration, Filled>
}

/**
 * Every backend is filled and compared before the session is stored. When one cannot be filled, all of
 * them are released and there is no session. What is about to be made is recorded: a process that dies
 * leaves nothing that a collection, or the next import of the session, does not find.
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
  const wanted = Object.entries(files).map(([name, source]) => toWanted(agent, name, source))
  const attempt = await ImportAttempt.begin(services, agent, sessionId)
  const session = { sessionId, agentType: agent.name }
  const work: Import = { services, session, attempt, made: new Map() }
  try {
    for (const one of wanted) await fillOne(work, one)
    const refs = [...work.made].map(([{ name }, { ref }]) => [name, ref] as const)
    const workspaceRefs = Object.fromEntries(refs)
    await stateStore.createSession({ ...seed, sessionId, workspaceRefs, now: clock.now() })
  } catch (error) {
    await releaseMade(work)
    throw error
  }
  await attempt.end()
  await tryCollect(services, agent, { sessionId })
  return Object.fromEntries([...work.made].map(([{ name }, { report }]) => [name, report]))
}

function toWanted(agent: Agent, name: string, source: CheckpointFiles): Wanted {
  const declaration = Object.hasOwn(agent.workspaces, name) ? agent.workspaces[name] : undefined
  if (declaration !== undefined) return { declaration, source }
  const detail = `agent ${agent.name} has no workspace "${name}"`
  throw new WorkspaceFailedError('config-invalid', detail)
}

async function fillOne(
  { services, session, attempt, made }: Import,
  { declaration, source }: Wanted,
): Promise<void> {
  const { losses = [] } = source
  const content = { source, losses, event: 'was copied from another session' }
  const { making } = attempt
  made.set(declaration, await fillBackend({ services, session, declaration, making }, content))
}

/** What may still be there afterwards stays recorded. */
async function releaseMade({ services, session, attempt, made }: Import): Promise<void> {
  let isLeft = attempt.making.isLeft
  for (const [declaration, { ref }] of made) {
    const isGone = await releaseBackend(services, ref, { session, declaration })
    isLeft ||= !isGone
  }
  if (isLeft) return
  try {
    await attempt.forget()
  } catch (err) {
    services.logger.warn({ err, ...session }, logMessages.historyNotReleased)
  }
}
