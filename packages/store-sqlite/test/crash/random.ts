/** Random numbers that a seed repeats. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** From 0 up to a number below the limit. */
  below(limit: number): number
}

/** The generator `mulberry32`: one multiplication and some shifts a number. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, below: (limit) => Math.floor(next() * limit) }
}

/** That of the environment variable `HELIX_CRASH_SEED`, or a new one. */
export function chooseSeed(): number {
  const given = Number(process.env['HELIX_CRASH_SEED'])
  return Number.isInteger(given) && given > 0 ? given : Math.floor(Math.random() * 2 ** 31) + 1
}
