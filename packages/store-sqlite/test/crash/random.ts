/** Random numbers that a seed repeats. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** From 0 up to a number below the limit. */
  below(limit: number): number
}

/** @param next numbers from 0 up to 1, such as those of a `TestSampler`. */
export function createRandom(next: () => number): Random {
  return { next, below: (limit) => Math.floor(next() * limit) }
}
