import { type Agent, AgentAlreadyRunningError, SessionError } from '@helix-agents/core'
import { initializeAgentState, NO_USAGE, type TurnOptions } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { readTurn, type TurnOfQueue, untilTurnEnds } from '../stream/read-turn.ts'
import { abortSession } from '../session/abort-session.ts'
import { abortTurns } from '../stream/abort-turns.ts'
import { type AgentHandle, abortRun } from './agent-handle.ts'
import { parseSessionId } from './check-arguments.ts'
import { toLabels, toUserMessages } from './execute-input.ts'
import type { EnqueueOptions, ExecuteInput } from './executor-options.ts'

/** Pause before the next check of a session that another worker takes over. */
const PAUSE_MS = 500

/** A turn in its queue, of an agent. */
export interface QueuedTurn extends TurnOfQueue {
  readonly agent: Agent
}

/**
 * Stores a turn for a worker. Nothing else is stored: a crash loses the turn or nothing.
 * @throws {SessionError} `no-queue`, `other-agent`, `invalid-message`
 * @throws {AgentDefinitionError} `definition-invalid` for a state the agent does not accept.
 */
export async function enqueueTurn(
  services: RunServices,
  agent: Agent,
  input: ExecuteInput,
  options: EnqueueOptions,
): Promise<QueuedTurn> {
  const { turnQueue: queue, stateStore } = services
  const sessionId = parseSessionId(options.sessionId)
  if (queue === undefined) {
    throw new SessionError('no-queue', sessionId, 'this executor has no queue of turns', {
      hint: 'Give it the option turnQueue, such as openTurnQueue() of @helix-agents/worker-postgres.',
    })
  }
  const [message, ...others] = toUserMessages(input, sessionId)
  if (message === undefined || others.length > 0) {
    throw new SessionError('invalid-message', sessionId, 'a queued turn has exactly one message')
  }
  const state = typeof input === 'string' ? undefined : input.state
  const session = await stateStore.loadSession(sessionId)
  if (session === null) await initializeAgentState(agent, state)
  else assertFits(agent, session, state)
  const turn = await queue.enqueue(agent, message, {
    ...toTurnOptions(options),
    sessionId,
    ...(state !== undefined && { state }),
  })
  return { ...turn, queue, agent }
}

function toTurnOptions(options: EnqueueOptions): TurnOptions {
  const { turnId, tenant, priority, startAfter } = options
  return {
    ...toLabels(options),
    ...(turnId !== undefined && { turnId }),
    ...(tenant !== undefined && { tenant }),
    ...(priority !== undefined && { priority }),
    ...(startAfter !== undefined && { startAfter }),
  }
}

function assertFits(
  agent: Agent,
  { sessionId, agentType }: { readonly sessionId: string; readonly agentType: string },
  state: object | undefined,
): void {
  if (agentType !== agent.name) {
    throw new SessionError('other-agent', sessionId, `it belongs to agent ${agentType}`)
  }
  if (state === undefined) return
  const detail = 'a queued turn sets the state of a new session only'
  throw new SessionError('invalid-message', sessionId, detail)
}

/** A handle whose stream and result are those of a turn that a worker runs. */
export function withTurn<TOutput>(
  handle: AgentHandle<TOutput>,
  services: RunServices,
  turn: QueuedTurn,
): AgentHandle<TOutput> {
  const { sessionId, turnId, agent } = turn
  const actions = { abortSession: () => abortSession(services, agent, sessionId) }
  return {
    ...handle,
    abort: () => abortTurns(services, turn, () => abortRun(services, sessionId, actions)),
    stream: (options) => readTurn(services, turn, options),
    result: async () => {
      const { isAborted } = await untilTurnEnds(services, turn)
      const session = isAborted ? await services.stateStore.loadSession(sessionId) : undefined
      if (session !== undefined && session?.status !== 'aborted') {
        const stepCount = session?.stepCount ?? 0
        return { sessionId, runId: turnId, stepCount, usage: NO_USAGE, status: 'aborted' }
      }
      for (;;) {
        try {
          return await handle.result()
        } catch (error) {
          // Its machine died after the turn had ended: a worker takes the session over.
          if (!AgentAlreadyRunningError.isInstance(error)) throw error
        }
        await services.clock.sleep(PAUSE_MS)
      }
    },
  }
}
