import type { ActiveRuns } from '../run/active-runs.ts'
import type { ShutdownOptions } from './executor-options.ts'
import type { RunServices } from '../ports.ts'

/** Container platforms kill a process 10 s after they asked it to end: both fit, with a rest. */
const DEFAULT_TIMEOUT_MS = 6000
const DEFAULT_GRACE_MS = 3000

/** Interrupts every run, those that are starting too, and waits for their ends: not for ever. */
export async function shutDown(
  services: Pick<RunServices, 'active' | 'clock' | 'logger' | 'rateLimitedLogger'>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, graceMs = DEFAULT_GRACE_MS }: ShutdownOptions,
): Promise<void> {
  const { active, clock, logger, rateLimitedLogger } = services
  const ended = endAll(active)
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>()
  const stopAll = (): void => {
    for (const run of active.all()) run.control.stop('shutdown')
  }
  const abandonAll = (): void => {
    const sessionIds = active.all().map((run) => run.sessionId)
    logger.error({ sessionIds }, 'shutdown did not finish')
    giveUp()
  }
  const cancelStop = clock.setTimer(timeoutMs, stopAll, { keepsProcessAlive: true })
  const cancelGiveUp = clock.setTimer(timeoutMs + graceMs, abandonAll, { keepsProcessAlive: true })
  await Promise.race([ended, givenUp])
  cancelStop()
  cancelGiveUp()
  rateLimitedLogger.flush()
}

async function endAll(active: ActiveRuns): Promise<void> {
  for (const run of active.all()) run.control.shutDown()
  await active.untilStarted()
  const runs = active.all()
  for (const run of runs) run.control.shutDown()
  await Promise.all(runs.map((run) => run.done))
}
