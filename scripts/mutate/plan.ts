import type { CoverageMap, ReachingTests } from './coverage-map.ts'
import type { NumberedMutant } from './schema.ts'

/** What runs for a mutant, the most promising first. */
export interface Plan {
  readonly tests: readonly ReachingTests[]
  /** Whether it acts while files are loaded, which a process does once. */
  readonly isLoaded: boolean
}

/** What a file takes beside its tests. */
const COST_MS = 20

/** Which tests are rather taken. */
export interface Preference {
  /** How many mutants of the same source a file of tests has killed. */
  readonly killsOf?: (test: string) => number
  /** What a file takes at most; others are left out. */
  readonly longestMs?: number
}

/**
 * Chooses the tests of a mutant among files: those that reach it, the shortest first. One that has
 * killed others of the same source counts as so much shorter.
 */
export function planOf(
  mutant: NumberedMutant,
  files: readonly string[],
  coverage: CoverageMap,
  { killsOf = () => 0, longestMs = Infinity }: Preference = {},
): Plan {
  const tests = files
    .flatMap((file) => coverage.testsReaching(mutant.id, file) ?? [])
    .filter(({ ms }) => ms <= longestMs)
    .map((each) => ({ each, cost: (each.ms + COST_MS) / (1 + killsOf(each.file)) }))
    .toSorted((one, other) => one.cost - other.cost)
    .map(({ each }) => each)
  return { tests, isLoaded: coverage.isLoaded(mutant.id) }
}
