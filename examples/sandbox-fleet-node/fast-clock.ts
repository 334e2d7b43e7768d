import { type Clock, systemClock } from '@helix-agents/core'

/**
 * So many times as fast as the clock on the wall. Faster, and on a busy machine the story would be
 * over before its agents had done anything.
 */
export const SPEED = 30

/**
 * The clock of the fleet in this story, so that it takes no ten minutes. Every process that
 * shares the ledger counts from the same moment.
 */
export function fastClock(startedAt: number): Clock {
  return {
    now: () => startedAt + (Date.now() - startedAt) * SPEED,
    sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
    setTimer: (ms, callback, options) => systemClock.setTimer(ms / SPEED, callback, options),
  }
}
