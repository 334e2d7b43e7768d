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

/**
 * Chooses the tests of a mutant among files: those that reach it, the shortest first. One that has
 * killed others of the same source counts as so much shorter.
 */
export function planOf(
  mutant: NumberedMutant,
  files: readonly string[],
  coverage: CoverageMap,
  killsOf: (test: string) => number = () => 0,
): Plan {
  const tests = files
    .flatMap((file) => coverage.testsReaching(mutant.id, file) ?? [])
    .map((each) => ({ each, cost: (each.ms + COST_MS) / (1 + killsOf(each.file)) }))
    .toSorted((one, other) => one.cost - other.cost)
    .map(({ each }) => each)
  return { tests, isLoaded: coverage.isLoaded(mutant.id) }
}
