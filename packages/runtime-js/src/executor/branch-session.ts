import {
  type Agent,
  type JsonValue,
  type Message,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { Checkpoint, NewSession, SessionState } from '@helix-agents/core/runtime'
import type { BranchOptions } from './executor-options.ts'
import { findFiles, restoreFiles } from '../history/checkpoint-files.ts'
import { Making } from '../history/making.ts'
import { forkWorkspaces } from './fork-workspaces.ts'
import { assertReleased } from '../history/released-limit.ts'
import { findCheckpoint } from '../session/find-checkpoint.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { releaseRefs } from '../session/end-refs.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { RunServices } from '../ports.ts'

/** Makes the session of a branch. */
export async function branchSession(
  services: RunServices,
  agent: Agent,
  options: BranchOptions,
): Promise<string> {
  const { stateStore, clock } = services
  const source = await loadOwnSession(services, agent, options.fromSessionId)
  const sessionId = options.sessionId ?? crypto.randomUUID()
  const session = { ...(await seedOf(services, source, options.checkpointId)), sessionId }
  if (options.files === 'checkpoint') {
    await createWithFiles(services, agent, { source, session, options })
  } else if (options.seedWorkspaces === 'snapshot')
    await createSeeded(services, agent, { source, session })
  else await stateStore.createSession({ ...session, now: clock.now() })
  return sessionId
}

/** What a branch begins with, but for its id: of a store, or of the object that it will be in. */
export type BranchSeed = Omit<NewSession, 'sessionId' | 'now'>

/**
 * What a branch of a session begins with, as that was at a checkpoint or is now. For runtimes whose
 * sessions do not share a store: there, `createSession` with it makes the branch.
 * @throws {SessionError} `not-resumable`, `other-agent`
 */
export async function loadBranchSeed(
  parts: Pick<RunServices, 'stateStore'>,
  agent: Agent,
  at: Pick<BranchOptions, 'fromSessionId' | 'checkpointId'>,
): Promise<BranchSeed> {
  const source = await loadOwnSession(parts, agent, at.fromSessionId)
  return seedOf(parts, source, at.checkpointId)
}

async function seedOf(
  parts: Pick<RunServices, 'stateStore'>,
  source: SessionState,
  checkpointId: string | undefined,
): Promise<BranchSeed> {
  const { agentType, userId, tags, metadata } = source
  const { customState, messages } = await loadPoint(parts, source, checkpointId)
  return {
    agentType,
    customState,
    messages,
    ...(userId !== undefined && { userId }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  }
}

interface SeededBranch {
  readonly source: SessionState
  readonly session: Omit<NewSession, 'now'>
}

/**
 * A branch that does not come to be leaves no copies of workspaces behind; the source records that one is
 * about to be made.
 */
async function createSeeded(
  services: RunServices,
  agent: Agent,
  { source, session }: SeededBranch,
): Promise<void> {
  const { stateStore, clock } = services
  const { sessionId } = session
  if ((await stateStore.loadSession(sessionId)) !== null) {
    throw new StateStoreError('conflict', sessionId, 'it exists already')
  }
  await assertReleased(services, agent, source)
  const fromId = source.sessionId
  const intent = await stateStore.recordReleased(fromId, { branchId: sessionId }, clock.now())
  const making = new Making(services, { sessionId: fromId, branchId: sessionId })
  const workspaceRefs = await forkWorkspaces(services, agent, { source, sessionId, making })
  try {
    await stateStore.createSession({ ...session, workspaceRefs, now: clock.now() })
  } catch (error) {
    await releaseRefs(services, agent, { sessionId, refs: workspaceRefs })
    throw error
  }
  await stateStore.forgetReleased(fromId, [intent, ...making.ids])
}

/**
 * Backends of the branch are made before its session. The source records that a branch is about to be
 * made: when the process dies in between, the next collection of the source finds what is left.
 */
async function createWithFiles(
  services: RunServices,
  agent: Agent,
  { source, session, options }: SeededBranch & { readonly options: BranchOptions },
): Promise<void> {
  const { stateStore, clock } = services
  const { sessionId } = session
  if (options.seedWorkspaces === 'snapshot') {
    throw new SessionError('files-missing', sessionId, SEEDED_TWICE)
  }
  if ((await stateStore.loadSession(sessionId)) !== null) {
    throw new StateStoreError('conflict', sessionId, 'it exists already')
  }
  const fromId = source.sessionId
  const checkpoint = await findCheckpoint(stateStore, fromId, options.checkpointId)
  if (checkpoint === null) throw noCheckpoint(fromId, options.checkpointId)
  const files = findFiles(agent, checkpoint, true)
  await assertReleased(services, agent, source)
  const intent = await stateStore.recordReleased(fromId, { branchId: sessionId }, clock.now())
  const owner = { sessionId, agentType: agent.name }
  const allowCrossSession = true
  const making = new Making(services, { sessionId: fromId, branchId: sessionId })
  const made = await restoreFiles(services, { session: owner, files, allowCrossSession, making })
  const refs = Object.entries(made).flatMap(([name, ref]) => (ref === null ? [] : [[name, ref]]))
  const workspaceRefs: Record<string, WorkspaceRef> = Object.fromEntries(refs)
  await stateStore.createSession({ ...session, workspaceRefs, now: clock.now() })
  await stateStore.forgetReleased(fromId, [intent, ...making.ids])
}

const SEEDED_TWICE = 'a branch has the files of a checkpoint or of now, not both'

interface BranchPoint {
  readonly messages: readonly Message[]
  readonly customState: JsonValue | undefined
}

async function loadPoint(
  { stateStore }: Pick<RunServices, 'stateStore'>,
  source: SessionState,
  checkpointId: string | undefined,
): Promise<BranchPoint> {
  const { sessionId } = source
  const point: SessionState | Checkpoint | null =
    checkpointId === undefined ? source : await stateStore.getCheckpoint(sessionId, checkpointId)
  if (point === null) {
    throw noCheckpoint(sessionId, checkpointId)
  }
  const { messages } = await stateStore.loadMessages(sessionId, { limit: point.messageCount })
  return { messages: withoutOpenStep(messages), customState: point.customState }
}

function noCheckpoint(sessionId: string, checkpointId: string | undefined): SessionError {
  const which = checkpointId === undefined ? 'no checkpoint yet' : `no checkpoint ${checkpointId}`
  return new SessionError('not-resumable', sessionId, `it has ${which}`)
}

/** A step that is under way stays with its source. */
function withoutOpenStep(messages: readonly Message[]): readonly Message[] {
  if (findOpenCalls(messages).length === 0) return messages
  return messages.slice(
    0,
    messages.findLastIndex((message) => message.role === 'assistant'),
  )
}
