import { AgentAlreadyRunningError, StateStoreError } from '@helix-agents/core'
import type { AgentResult } from '../agent-result.ts'
import type { LaunchRequest, RequestPlace, RunServices } from '../ports.ts'
import { RunControl } from './run-control.ts'

/** A run that has ended and has released its session. */
export interface EndedRun {
  readonly request: LaunchRequest
  readonly result: AgentResult
  readonly requests: RequestPlace
}

/**
 * Looks once more at a session whose run has ended. An answer or a message that came while the run held
 * it is resumed now: a process that stored it and cannot hold the session leaves that to its run. Never rejects.
 */
export async function continueSession(services: RunServices, ended: EndedRun): Promise<void> {
  const { request, result } = ended
  const { logger } = services
  const { sessionId, agent, toolSet } = request
  if (request.parent !== undefined || request.control.isShutDown) return
  try {
    const mode = await findNext(services, ended)
    if (mode === undefined) return
    const control = new RunControl()
    const isFromInbox = mode === 'execute'
    await services.launch({ agent, sessionId, control, toolSet, mode, messages: [], isFromInbox })
  } catch (err) {
    // Whoever has it by now does the same.
    if (AgentAlreadyRunningError.isInstance(err) || isGone(err)) return
    logger.error({ err, sessionId, status: result.status }, 'session not continued')
  }
}

/** `resume`: there is an answer that the run has not seen. `execute`: there are messages. */
async function findNext(
  { stateStore }: RunServices,
  { request, result, requests }: EndedRun,
): Promise<'execute' | 'resume' | undefined> {
  const { status } = result
  if (status !== 'waiting' && status !== 'completed') return undefined
  const { answered, steering, followUps } = await stateStore.loadSignals(request.sessionId)
  if (status === 'waiting') return answered > requests.blocked.size ? 'resume' : undefined
  return steering + followUps > 0 ? 'execute' : undefined
}

/** It was deleted right after its run. */
function isGone(error: unknown): boolean {
  return StateStoreError.isInstance(error) && error.code === 'not-found'
}
