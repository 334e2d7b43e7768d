import {
  type Agent,
  AgentAlreadyRunningError,
  SessionError,
  StateStoreError,
  type UserMessage,
} from '@helix-agents/core'
import {
  initializeAgentState,
  isStorableId,
  type MessageDelivery,
  type SessionState,
} from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import { hasMessages } from '../session/has-messages.ts'
import type { AgentHandle } from './agent-handle.ts'
import { toLabels, toUserMessages } from './execute-input.ts'
import type { NewSessionOptions } from './executor-options.ts'

/** Options of `send`. */
export interface SendOptions {
  /**
   * `steer` reaches a run under way before its next model call, `followUp` starts the next turn when
   * the run is completed. Without a run both start a turn. Default: `steer`.
   */
  readonly delivery?: MessageDelivery
  /** The same id is stored once, so that a send can be repeated. Default: a new random id. */
  readonly messageId?: string
  /**
   * Makes the session, when there is none, with these labels and this custom state. Default: an unknown
   * session is rejected.
   */
  readonly create?: NewSessionOptions
}

/** A message that was stored. */
export interface SentMessage<TOutput = unknown> {
  readonly messageId: string
  /**
   * The run that the message has started; absent when one was under way, the session waits, or the
   * message was delivered before.
   */
  readonly handle?: AgentHandle<TOutput>
}

interface Sending<TOutput> {
  readonly sessionId: string
  readonly message: string | UserMessage
  readonly options: SendOptions
  /** Resumes what the session has left, or starts its next turn. */
  readonly start: (mode: 'execute' | 'resume') => Promise<AgentHandle<TOutput>>
}

/** Stores a message, then brings it to the run under way or starts one. */
export async function sendMessage<TOutput>(
  services: RunServices,
  agent: Agent,
  { sessionId, message: given, options, start }: Sending<TOutput>,
): Promise<SentMessage<TOutput>> {
  const { stateStore, clock, active } = services
  const [message] = toUserMessages({ message: given }, sessionId)
  const { delivery = 'steer', messageId = crypto.randomUUID() } = options
  if (message === undefined || !isStorableId(messageId) || !isDelivery(delivery)) {
    const detail = 'a message needs a delivery of steer or followUp, and a short id'
    throw new SessionError('invalid-message', sessionId, detail)
  }
  if (options.create !== undefined) await ensureSession(services, agent, sessionId, options.create)
  await loadOwnSession(services, agent, sessionId)
  const queued = { messageId, sessionId, delivery, message, createdAt: clock.now() }
  await stateStore.queueMessage(queued)
  active.get(sessionId)?.onQueued(queued)
  const handle = await tryStart(services, agent, { sessionId, start })
  return { messageId, ...(handle !== undefined && { handle }) }
}

async function ensureSession(
  { stateStore, clock }: RunServices,
  agent: Agent,
  sessionId: string,
  { state, ...labels }: NewSessionOptions,
): Promise<void> {
  if ((await stateStore.loadSession(sessionId)) !== null) return
  const customState = await initializeAgentState(agent, state)
  const session = { ...toLabels(labels), sessionId, agentType: agent.name, customState }
  try {
    await stateStore.createSession({ ...session, now: clock.now() })
  } catch (error) {
    // Another process made it in the meantime.
    if (!StateStoreError.isInstance(error) || error.code !== 'conflict') throw error
  }
}

function isDelivery(value: unknown): value is MessageDelivery {
  return value === 'steer' || value === 'followUp'
}

/** A run that holds the session looks for messages when it ends: nothing is lost. */
async function tryStart<TOutput>(
  services: RunServices,
  agent: Agent,
  { sessionId, start }: Pick<Sending<TOutput>, 'sessionId' | 'start'>,
): Promise<AgentHandle<TOutput> | undefined> {
  const mode = modeOf(await loadOwnSession(services, agent, sessionId))
  if (mode === undefined || !(await hasMessages(services, sessionId))) return undefined
  try {
    return await start(mode)
  } catch (error) {
    if (AgentAlreadyRunningError.isInstance(error)) return undefined
    throw error
  }
}

function modeOf({ status }: SessionState): 'execute' | 'resume' | undefined {
  if (status === 'running' || status === 'waiting') return undefined
  return status === 'interrupted' || status === 'failed' ? 'resume' : 'execute'
}
