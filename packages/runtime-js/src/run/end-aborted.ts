import type { AgentResult } from '../agent-result.ts'
import type { LaunchRequest, RunServices } from '../ports.ts'
import { abortSession } from '../session/abort-session.ts'

/**
 * Ends the session of a run that was aborted when its steps were over already, since a call waits or it
 * was interrupted: the abort is of the session. Never rejects. @returns the result that counts
 */
export async function endAborted(
  services: RunServices,
  { agent, sessionId, control, parent }: LaunchRequest,
  result: AgentResult,
): Promise<AgentResult> {
  const { status, runId, stepCount, usage } = result
  const isOpen = status === 'waiting' || status === 'interrupted'
  if (!isOpen || control.cause !== 'aborted' || parent !== undefined) return result
  try {
    await abortSession(services, agent, sessionId)
    return { sessionId, runId, stepCount, usage, status: 'aborted' }
  } catch (err) {
    services.logger.error({ err, sessionId, runId }, 'session not aborted')
    return result
  }
}
