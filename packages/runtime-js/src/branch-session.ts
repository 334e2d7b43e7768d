import {
  type Agent,
  type Checkpoint,
  type JsonValue,
  type Message,
  SessionError,
  type SessionState,
} from '@helix-agents/core'
import type { BranchOptions } from './executor-options.ts'
import { forkWorkspaces } from './fork-workspaces.ts'
import { findOpenCalls } from './run/find-open-calls.ts'
import type { RunServices } from './run/run-services.ts'

/** Makes the session of a branch. */
export async function branchSession(
  services: RunServices,
  agent: Agent,
  options: BranchOptions,
): Promise<string> {
  const { stateStore, clock } = services
  const source = await loadSource(services, agent, options.fromSessionId)
  const point = await loadPoint(services, source, options.checkpointId)
  const sessionId = options.sessionId ?? crypto.randomUUID()
  const { userId, tags, metadata } = source
  const seeds = options.seedWorkspaces === 'snapshot'
  const workspaceRefs = seeds ? await forkWorkspaces(services, agent, source) : {}
  await stateStore.createSession({
    sessionId,
    agentType: agent.name,
    customState: point.customState,
    messages: point.messages,
    workspaceRefs,
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
    now: clock.now(),
  })
  return sessionId
}

interface BranchPoint {
  readonly messages: readonly Message[]
  readonly customState: JsonValue | undefined
}

async function loadSource(
  { stateStore }: RunServices,
  agent: Agent,
  sessionId: string,
): Promise<SessionState> {
  const source = await stateStore.loadSession(sessionId)
  if (source === null) {
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  if (source.agentType === agent.name) return source
  throw new SessionError('other-agent', sessionId, `it belongs to agent ${source.agentType}`)
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
