import { compareCodePoints } from './path.ts'
import { createSearchPace, type SearchPace } from '../search/search-pace.ts'

/** Items that are sorted in one stretch, before they are merged. */
const RUN = 64
/** Comparisons of an item while its run is sorted. */
const COMPARISONS_IN_RUN = 6
/** Characters that are compared in one unit of work. */
const CHARACTERS_PER_UNIT = 10

/**
 * Sorts by the code points of a key, and yields to other work: listings of many long
 * paths take longer than a call may hold the event loop. Items that are in order already cost one pass.
 *
 * @param keyOf Name or path of an item.
 * @returns a new array; rejects with the reason of the signal after an abort.
 */
export async function sortByCodePoint<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  signal?: AbortSignal,
): Promise<T[]> {
  const sort = new Sort(keyOf, signal)
  if (await sort.isSorted(items)) return [...items]
  let runs = await sort.runsOf(items)
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await sort.merge(runs[at] ?? [], runs[at + 1] ?? []))
    }
    runs = merged
  }
  return runs[0] ?? []
}

class Sort<T> {
  readonly #keyOf: (item: T) => string
  readonly #signal: AbortSignal | undefined
  readonly #pace: SearchPace = createSearchPace()

  constructor(keyOf: (item: T) => string, signal: AbortSignal | undefined) {
    this.#keyOf = keyOf
    this.#signal = signal
  }

  async isSorted(items: readonly T[]): Promise<boolean> {
    let previous: T | undefined
    for (const item of items) {
      if (previous !== undefined && this.#compare(previous, item) > 0) return false
      previous = item
      const pause = this.#rest(item, 1)
      if (pause !== undefined) await pause
    }
    return true
  }

  async runsOf(items: readonly T[]): Promise<T[][]> {
    const runs: T[][] = []
    for (let start = 0; start < items.length; start += RUN) {
      const run = items.slice(start, start + RUN)
      runs.push(run.toSorted((a, b) => this.#compare(a, b)))
      for (const item of run) {
        const pause = this.#rest(item, COMPARISONS_IN_RUN)
        if (pause !== undefined) await pause
      }
    }
    return runs
  }

  async merge(left: readonly T[], right: readonly T[]): Promise<T[]> {
    const merged: T[] = []
    let [atLeft, atRight] = [0, 0]
    for (;;) {
      const [a, b] = [left[atLeft], right[atRight]]
      const isLeft = a !== undefined && (b === undefined || this.#compare(a, b) <= 0)
      const next = isLeft ? a : b
      if (next === undefined) return merged
      merged.push(next)
      if (isLeft) atLeft += 1
      else atRight += 1
      const pause = this.#rest(next, 1)
      if (pause !== undefined) await pause
    }
  }

  #compare(a: T, b: T): number {
    return compareCodePoints(this.#keyOf(a), this.#keyOf(b))
  }

  #rest(item: T, comparisons: number): Promise<void> | undefined {
    const units = comparisons * (2 + this.#keyOf(item).length / CHARACTERS_PER_UNIT)
    return this.#pace.rest(units, this.#signal)
  }
}
