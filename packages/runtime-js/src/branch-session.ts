import {
  type Agent,
  type Checkpoint,
  type JsonValue,
  type Message,
  type NewSession,
  SessionError,
  type SessionState,
  StateStoreError,
} from '@helix-agents/core'
import type { BranchOptions } from './executor-options.ts'
import { forkWorkspaces } from './fork-workspaces.ts'
import { loadOwnSession } from './load-own-session.ts'
import { releaseRefs } from './release-refs.ts'
import { findOpenCalls } from './run/find-open-calls.ts'
import type { RunServices } from './run/run-services.ts'

/** Makes the session of a branch. */
export async function branchSession(
  services: RunServices,
  agent: Agent,
  options: BranchOptions,
): Promise<string> {
  const { stateStore, clock } = services
  const source = await loadOwnSession(services, agent, options.fromSessionId)
  const point = await loadPoint(services, source, options.checkpointId)
  const sessionId = options.sessionId ?? crypto.randomUUID()
  const { userId, tags, metadata } = source
  const session = {
    sessionId,
    agentType: agent.name,
    customState: point.customState,
    messages: point.messages,
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  }
  if (options.seedWorkspaces === 'snapshot')
    await createSeeded(services, agent, { source, session })
  else await stateStore.createSession({ ...session, now: clock.now() })
  return sessionId
}

interface SeededBranch {
  readonly source: SessionState
  readonly session: Omit<NewSession, 'now'>
}

/** A branch that does not come to be leaves no copies of workspaces behind. */
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
  const workspaceRefs = await forkWorkspaces(services, agent, { source, sessionId })
  try {
    await stateStore.createSession({ ...session, workspaceRefs, now: clock.now() })
  } catch (error) {
    await releaseRefs(services, agent, { sessionId, refs: workspaceRefs })
    throw error
  }
}

interface BranchPoint {
  readonly messages: readonly Message[]
  readonly customState: JsonValue | undefined
}

async function loadPoint(
  { stateStore }: RunServices,
  source: SessionState,
  checkpointId: string | undefined,
): Promise<BranchPoint> {
  const { sessionId } = source
  const point: SessionState | Checkpoint | null =
    checkpointId === undefined ? source : await stateStore.getCheckpoint(sessionId, checkpointId)
  if (point === null) {
    throw new SessionError('not-resumable', sessionId, `it has no checkpoint ${checkpointId}`)
  }
  const { messages } = await stateStore.loadMessages(sessionId, { limit: point.messageCount })
  return { messages: withoutOpenStep(messages), customState: point.customState }
}

/** A step that is under way stays with its source. */
function withoutOpenStep(messages: readonly Message[]): readonly Message[] {
  if (findOpenCalls(messages).length === 0) return messages
  return messages.slice(
    0,
    messages.findLastIndex((message) => message.role === 'assistant'),
  )
}
