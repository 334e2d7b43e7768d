import { endStream } from './run/end-stream.ts'
import type { RunServices } from './run/run-services.ts'

const nothing = (): void => {}

/**
 * Ends the stream of a session whose last run is over and whose process died before it could say
 * so: its readers would wait for ever. They are told how the run ended. A process that lives gets
 * the time of a lease for that. The result calls it off.
 */
export async function endAbandonedStream(
  services: RunServices,
  sessionId: string,
): Promise<() => void> {
  const { stateStore, active, clock, leaseMs, logger } = services
  if (active.get(sessionId) !== undefined) return nothing
  const onError = (err: unknown): void => {
    logger.warn({ err, sessionId }, 'abandoned stream not ended')
  }
  try {
    const session = await stateStore.loadSession(sessionId)
    if (session?.runId === undefined || session.status === 'running') return nothing
    const end = (): Promise<void> => endStream(services, session)
    const restMs = session.updatedAt + leaseMs - clock.now()
    if (restMs > 0) return clock.setTimer(restMs, () => void end().catch(onError))
    await end()
  } catch (error) {
    onError(error)
  }
  return nothing
}
