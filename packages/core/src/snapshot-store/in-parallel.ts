import { createTimeSlice } from '../time/slice.ts'

/** Work on files that waits for a disk or a network is done for so many at once. */
const AT_ONCE = 8
/** Where the clock stands still, so many files are worked on in a turn as take about 10 ms. */
const CHECKS_AN_ITEM = 32

interface ParallelOptions {
  readonly signal?: AbortSignal | undefined
  /** Default: 8. */
  readonly atOnce?: number
}

/**
 * Calls `work` for every item, for some at a time, and yields to other work. The first failure stops
 * it; it rejects once nothing runs any more.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
  { signal, atOnce = AT_ONCE }: ParallelOptions = {},
): Promise<void> {
  const slice = createTimeSlice()
  const queue = items.entries()
  let failed = false
  const consume = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failed) return
      signal?.throwIfAborted()
      if (slice.dueAfter(CHECKS_AN_ITEM)) await slice.pause()
      await work(item, index)
    }
  }
  const runs = Array.from({ length: atOnce }, async () => {
    try {
      await consume()
    } catch (error) {
      failed = true
      throw error
    }
  })
  const failure = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected')
  if (failure?.status === 'rejected') throw failure.reason
}
