import { type Clock, systemClock } from '@helix-agents/core'

/** A clock that goes faster than that of the machine: long deadlines pass in a short test. */
export function pacedClock(pace: number): Clock {
  const originMs = systemClock.now()
  return {
    now: () => originMs + (systemClock.now() - originMs) * pace,
    sleep: (ms, signal) => systemClock.sleep(ms / pace, signal),
    setTimer: (ms, callback) => systemClock.setTimer(ms / pace, callback),
  }
}
