import type { ShutdownOptions } from './executor-options.ts'
import type { RunServices } from './run/run-services.ts'

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_GRACE_MS = 5_000

/** Interrupts every run and waits for their ends, but not for ever. */
export async function shutDown(
  { active, clock, logger }: Pick<RunServices, 'active' | 'clock' | 'logger'>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, graceMs = DEFAULT_GRACE_MS }: ShutdownOptions,
): Promise<void> {
  const runs = active.all()
  if (runs.length === 0) return
  for (const run of runs) run.control.interrupt()
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>()
  const cancelStop = clock.setTimer(timeoutMs, () => {
    for (const run of runs) run.control.stop('shutdown')
  })
  const cancelGiveUp = clock.setTimer(timeoutMs + graceMs, () => {
    const sessionIds = runs.filter((run) => active.get(run.sessionId) === run)
    logger.error({ sessionIds: sessionIds.map((run) => run.sessionId) }, 'shutdown did not finish')
    giveUp()
  })
  await Promise.race([Promise.all(runs.map((run) => run.done)), givenUp])
  cancelStop()
  cancelGiveUp()
}
