import type { CoverageMap, ReachingTests } from './coverage-map.ts'
import type { NumberedMutant } from './schema.ts'

/** What runs for a mutant, the shortest first. */
export interface Plan {
  readonly tests: readonly ReachingTests[]
  /** What they take without a mutant. */
  readonly ms: number
}

/** Chooses the tests of a mutant among files: those that reach it. */
export function planOf(
  mutant: NumberedMutant,
  files: readonly string[],
  coverage: CoverageMap,
): Plan {
  const tests = files
    .flatMap((file) => coverage.testsReaching(mutant.id, file) ?? [])
    .toSorted((one, other) => one.ms - other.ms)
  return { tests, ms: tests.reduce((sum, { ms }) => sum + ms, 0) }
}
