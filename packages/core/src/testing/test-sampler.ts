const MAX_SEED = 2 ** 31 - 1

/** The environment variables that a {@link TestSampler} reads. */
export interface SamplingEnvironment {
  /** A whole number from 1 to 2147483647 that repeats the samples of a run. Default: a new one. */
  readonly HELIX_SEED?: string | undefined
  /** `1` takes everything instead of a sample. */
  readonly HELIX_EXHAUSTIVE?: string | undefined
}

/**
 * Chooses what a test takes of a sweep that is too long for every run: a sample that its seed
 * repeats, or everything. The name of a sweep keeps the samples of two sweeps apart.
 */
export class TestSampler {
  /** Repeats all samples as `HELIX_SEED`. */
  readonly seed: number
  readonly isExhaustive: boolean

  /**
   * @param environment Default: the variables of the process, which Workers under test have as well.
   * @throws {TypeError} for a `HELIX_SEED` that is no seed.
   */
  constructor(environment: SamplingEnvironment = environmentOf(globalThis)) {
    const { HELIX_SEED, HELIX_EXHAUSTIVE } = environment
    this.seed = HELIX_SEED === undefined ? createSeed() : parseSeed(HELIX_SEED)
    this.isExhaustive = HELIX_EXHAUSTIVE === '1'
  }

  /** @returns the size of a sweep: `whole` when everything is taken, else `sampled`. */
  size(whole: number, sampled: number): number {
    return this.isExhaustive ? whole : sampled
  }

  /** @returns `count` items in their order, never none of some; all when everything is taken. */
  pick<T>(name: string, items: readonly T[], count: number): readonly T[] {
    const wanted = Math.max(1, Math.ceil(count))
    if (this.isExhaustive || items.length <= wanted) return items
    const random = this.random(name)
    const drawn = items.map((item, index) => ({ item, index, draw: random() }))
    return drawn
      .toSorted((a, b) => a.draw - b.draw)
      .slice(0, wanted)
      .toSorted((a, b) => a.index - b.index)
      .map(({ item }) => item)
  }

  /** @returns the seed of one sweep, for a property test or a generator of its own. */
  seedOf(name: string): number {
    let hash = this.seed
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619)
    return ((hash >>> 0) % MAX_SEED) + 1
  }

  /** @returns a generator of numbers from 0 up to 1 (`mulberry32`) that the seed repeats. */
  random(name: string): () => number {
    let state = this.seedOf(name)
    return () => {
      state = (state + 0x6d_2b_79_f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    }
  }
}

interface WithProcess {
  readonly process: { readonly env: SamplingEnvironment }
}

function environmentOf(scope: object): SamplingEnvironment {
  return hasProcess(scope) ? scope.process.env : {}
}

/** Browsers have no process. */
function hasProcess(scope: object): scope is WithProcess {
  return 'process' in scope
}

function createSeed(): number {
  return Math.floor(Math.random() * MAX_SEED) + 1
}

function parseSeed(text: string): number {
  const seed = Number(text)
  if (Number.isInteger(seed) && seed > 0 && seed <= MAX_SEED) return seed
  throw new TypeError(`HELIX_SEED must be a whole number from 1 to ${MAX_SEED}, not ${text}`)
}
