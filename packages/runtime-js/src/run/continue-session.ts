import { AgentAlreadyRunningError } from '@helix-agents/core'
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
 * Looks once more at a session whose run has ended: an answer that came while the run held it resumes
 * it now. Who answers and cannot get the session leaves that to its run. Never rejects.
 */
export async function continueSession(services: RunServices, ended: EndedRun): Promise<void> {
  const { request, result } = ended
  const { logger } = services
  const { sessionId } = request
  if (request.parent !== undefined || request.control.isShutDown) return
  try {
    if (!(await isAnswered(services, ended))) return
    const { agent, toolSet } = request
    const control = new RunControl()
    await services.launch({ agent, sessionId, control, toolSet, mode: 'resume', messages: [] })
  } catch (err) {
    // Whoever has it by now does the same.
    if (AgentAlreadyRunningError.isInstance(err)) return
    logger.error({ err, sessionId, status: result.status }, 'session not continued')
  }
}

/** Whether there is an answer that the run has not seen. */
async function isAnswered(
  { interactions }: RunServices,
  { request, result, requests }: EndedRun,
): Promise<boolean> {
  if (result.status !== 'waiting' || interactions === undefined) return false
  const { answered } = await interactions.loadSignals(request.sessionId)
  return answered > requests.blocked.size
}
