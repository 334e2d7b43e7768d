import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The goal is 50. A turn measures up to twice its time while other programs share the core. */
export const MAX_HOLD_MS = 100

/** How long some work kept everything else waiting. */
export interface HeldLoop<Result> {
  readonly result: Result
  /** Processor time of the longest stretch between two turns of the event loop, in milliseconds. */
  readonly longestMs: number
}

/**
 * Measures processor time, not time on the wall: a busy machine must not fail a test. What tests
 * before have left is collected first, so that it does not count.
 */
export async function measureHold<Result>(work: () => Promise<Result>): Promise<HeldLoop<Result>> {
  collectGarbage()
  let longestMs = 0
  let before = process.threadCpuUsage()
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    before = process.threadCpuUsage()
  }
  let next = setImmediate(function turn() {
    look()
    next = setImmediate(turn)
  })
  try {
    const result = await work()
    look()
    return { result, longestMs }
  } finally {
    clearImmediate(next)
  }
}
