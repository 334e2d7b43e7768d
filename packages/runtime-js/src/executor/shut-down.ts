import type { ActiveRuns } from '../run/active-runs.ts'
import type { ShutdownOptions } from './executor-options.ts'
import type { RunServices } from '../ports.ts'

/** Container platforms kill a process 10 s after they ask it to end: both fit, with a margin. */
const DEFAULT_TIMEOUT_MS = 6000
const DEFAULT_GRACE_MS = 3000

/** Interrupts every run, those that are starting too, and waits for their ends, for a limited time. */
export async function shutDown(
  services: Pick<RunServices, 'active' | 'clock' | 'logger' | 'rateLimitedLogger'>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, graceMs = DEFAULT_GRACE_MS }: ShutdownOptions,
): Promise<void> {
  const { active, clock, logger, rateLimitedLogger } = services
  const ended = endAll(active)
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>()
  const stopAll = (): void => {
    for (const run of active.all()) run.control.stop('shutdown')
  }
  const abandonAll = (): void => {
    const sessionIds = active.all().map((run) => run.sessionId)
    logger.error({ sessionIds }, 'shutdown did not finish')
    abandon()
  }
  const cancelStop = clock.setTimer(timeoutMs, stopAll, { keepsProcessAlive: true })
  const cancelAbandon = clock.setTimer(timeoutMs + graceMs, abandonAll, { keepsProcessAlive: true })
  await Promise.race([ended, abandoned])
  cancelStop()
  cancelAbandon()
  rateLimitedLogger.flush()
}

async function endAll(active: ActiveRuns): Promise<void> {
  for (const run of active.all()) run.control.shutDown()
  await active.untilStarted()
  const runs = active.all()
  for (const run of runs) run.control.shutDown()
  await Promise.all(runs.map((run) => run.done))
}
