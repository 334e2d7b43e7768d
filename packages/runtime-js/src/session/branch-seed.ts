import { type Agent, type JsonValue, type Message, SessionError } from '@helix-agents/core'
import type { Checkpoint, NewSession, SessionState } from '@helix-agents/core/runtime'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from './load-own-session.ts'
import type { BranchOptions } from '../executor/executor-options.ts'

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

export async function seedOf(
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
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

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

export function noCheckpoint(sessionId: string, checkpointId: string | undefined): SessionError {
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
