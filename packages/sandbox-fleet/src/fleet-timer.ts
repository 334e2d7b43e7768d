import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { withDeadline } from '@helix-agents/core/provider'
import type { Fleet } from './fleet.ts'
import type { TickReport } from './fleet-tick.ts'
import { runCallback } from './run-callback.ts'

/** Options of `startFleetTimer`. */
export interface FleetTimerOptions {
  /** Between two ticks, in milliseconds. Default: `sweepIntervalMs` of the policy. */
  readonly intervalMs?: number
  /** Default: the time of the machine. */
  readonly clock?: Clock
  /** Default: no log. */
  readonly logger?: Logger
  /** Gets the report of each tick. Not awaited; what it throws or rejects with is logged. */
  readonly onTick?: (report: TickReport) => void
}

/** A timer that is so late was asleep with its machine. */
const ASLEEP_MS = 30_000

/**
 * Runs `fleet.tick()` at once and then at an interval, where nothing else triggers it. One tick ends
 * before the next begins; one that hangs, for example on its ledger, is abandoned after twice
 * `passTimeoutMs` and `sweepIntervalMs`. Between ticks it keeps no process alive. After a machine was
 * asleep, owners get `ownerLeaseMs` to renew their leases before the next tick.
 * @returns stops it; resolves when the tick under way has ended.
 */
export function startFleetTimer(
  fleet: Pick<Fleet, 'tick' | 'policy'>,
  options: FleetTimerOptions = {},
): () => Promise<void> {
  const { clock = systemClock, logger = noopLogger } = options
  const { ownerLeaseMs, passTimeoutMs, sweepIntervalMs } = fleet.policy
  const { intervalMs = sweepIntervalMs } = options
  const onError = (err: unknown): void => logger.error({ err }, 'sandbox fleet tick failed')
  let isStopped = false
  let cancel: (() => void) | undefined
  const tickTimeoutMs = 2 * passTimeoutMs + sweepIntervalMs
  const onTimeout = (): Error => new Error(`a tick exceeded ${tickTimeoutMs} ms`)
  const run = async (): Promise<void> => {
    const report = await withDeadline(fleet.tick(), { clock, timeoutMs: tickTimeoutMs, onTimeout })
    runCallback(() => options.onTick?.(report), onError)
  }
  const plan = (ms: number): void => {
    const dueAt = clock.now() + ms
    const wake = (): void => {
      if (clock.now() - dueAt >= ASLEEP_MS) plan(ownerLeaseMs)
      else current = runAndPlan()
    }
    cancel = clock.setTimer(ms, wake)
  }
  const runAndPlan = async (): Promise<void> => {
    try {
      await run()
    } catch (err) {
      onError(err)
    }
    if (!isStopped) plan(intervalMs)
  }
  let current = runAndPlan()
  return async () => {
    isStopped = true
    cancel?.()
    await Promise.allSettled([current])
  }
}
