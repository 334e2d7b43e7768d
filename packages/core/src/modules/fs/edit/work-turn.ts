import { createTimeSlice } from '../../../time/slice.ts'

/** Lets long synchronous work of one call give way to others, and end when the call is stopped. */
export interface WorkTurn {
  /** True when the work has held the event loop long enough: call `pause`. */
  readonly due: boolean
  /** As `due`, after work that costs as much as so many checks: one is for about 8 microseconds. */
  dueAfter(checks: number): boolean
  /**
   * Lets timers and other work run.
   * @throws the reason of the signal, when the call was stopped in between.
   */
  pause(): Promise<void>
}

/** A turn of work for one call. */
export function createWorkTurn(signal?: AbortSignal): WorkTurn {
  const slice = createTimeSlice()
  return {
    get due() {
      return slice.due
    },
    dueAfter: (checks) => slice.dueAfter(checks),
    async pause() {
      await slice.pause()
      signal?.throwIfAborted()
    },
  }
}
