import { CoverageMap } from './coverage-map.ts'
import { Judge, SLOWER, type Verdict } from './judge.ts'
import type { PackageTrial } from './package-mutation.ts'
import { type Plan, planOf } from './plan.ts'
import { record } from './tests/recording.ts'
import type { NumberedMutant } from './schema.ts'
import type { TestServer } from './tests/test-server.ts'

/** Most mutants are noticed by one of so many files of tests; only the others meet more. */
const NEAR_FILES = 8
/** And by tests that take so long at most. */
const QUICK_MS = 3000
/**
 * Share of the time that the near tests have. What they leave comes before mutants that nothing has met yet:
 * else a run that is cut off would count those that are noticed soon, and none of the others.
 */
const NEAR_SHARE = 0.5

/** What new processes may take to start, beside a multiple of what they load. */
const STARTING_MS = 10_000

/** What judges the mutants of a package. */
export interface Judging extends Pick<
  PackageTrial,
  'name' | 'testsOf' | 'graceMs' | 'until' | 'print'
> {
  /** They share the work. */
  readonly servers: readonly TestServer[]
  readonly mutants: readonly NumberedMutant[]
  readonly endings: Map<NumberedMutant, Verdict | 'undecided'>
}

/** Tries the near tests of each mutant, and all of them on what these have not noticed. */
export async function judgeInWaves(judging: Judging): Promise<void> {
  const { mutants, endings } = judging
  const coverage = new CoverageMap()
  const recorded = new Set<string>()
  const undecided = new Set<NumberedMutant>()
  for (const files of [NEAR_FILES, undefined]) {
    const testsOf = (file: string): readonly string[] => judging.testsOf(file).slice(0, files)
    const unmet = mutants.filter((mutant) => !endings.has(mutant) && !undecided.has(mutant))
    const left = [...undecided, ...unmet]
    const missing = testsOfAll({ testsOf }, left).filter((file) => !recorded.has(file))
    for (const file of missing) recorded.add(file)
    await record(judging, missing, coverage)
    const isLast = files === undefined
    const until = isLast ? judging.until : Date.now() + NEAR_SHARE * (judging.until - Date.now())
    await judgeEach({ ...judging, testsOf, until, mutants: left }, coverage, isLast, undecided)
  }
  for (const mutant of undecided) endings.set(mutant, 'undecided')
}

/** The files of tests that may notice one of the mutants. */
export function testsOfAll(
  { testsOf }: Pick<PackageTrial, 'testsOf'>,
  mutants: readonly NumberedMutant[],
): readonly string[] {
  return [...new Set(mutants.flatMap(({ file }) => testsOf(file)))]
}

/**
 * @param isLast whether no other tests will be tried on the mutants.
 * @param undecided those that the tests so far have not noticed.
 */
async function judgeEach(
  judging: Judging,
  coverage: CoverageMap,
  isLast: boolean,
  undecided: Set<NumberedMutant>,
): Promise<void> {
  const { name, until, print, servers, mutants, endings } = judging
  const kills = new Kills()
  const left = mutants.values()
  const judgeBy = async (server: TestServer): Promise<void> => {
    const judge = judgeOf(
      judging,
      server,
      (mutant) => {
        const killsOf = (test: string): number => kills.of(mutant.file, test)
        const longestMs = isLast ? Infinity : QUICK_MS
        return planOf(mutant, judging.testsOf(mutant.file), coverage, { killsOf, longestMs })
      },
      { kills, startingMs: STARTING_MS + SLOWER * coverage.longestLoadingMs },
    )
    // All judges take from one iterator.
    for (const mutant of left) {
      if (Date.now() >= until) return
      const verdict = await judge.judge(mutant, isLast)
      if (!isLast && verdict !== 'killed' && verdict !== 'timeout') {
        undecided.add(mutant)
        continue
      }
      undecided.delete(mutant)
      endings.set(mutant, verdict)
      const { operator, file, line } = mutant
      print(`${name}: ${endings.size} judged, ${verdict}: ${operator} at ${file}:${line}`)
    }
  }
  await Promise.all(servers.map(judgeBy))
}

function judgeOf(
  { name, graceMs, print }: Judging,
  server: TestServer,
  planOfMutant: (mutant: NumberedMutant) => Plan,
  { kills, startingMs }: { readonly kills: Kills; readonly startingMs: number },
): Judge {
  return new Judge({
    run: (request) => server.run(request),
    planOf: planOfMutant,
    graceMs,
    startingMs,
    onKill: ({ file }, tests) => {
      for (const test of tests) kills.add(file, test.file)
    },
    onFailingControl: (tests, how) => {
      const names = tests.map(({ file }) => file).join(' ')
      print(`${name}: a control fails: ${names}: ${how}`)
    },
  })
}

/** How many mutants of a source a file of tests has killed. */
class Kills {
  readonly #counts = new Map<string, number>()

  add(source: string, test: string): void {
    this.#counts.set(`${source} ${test}`, this.of(source, test) + 1)
  }

  of(source: string, test: string): number {
    return this.#counts.get(`${source} ${test}`) ?? 0
  }
}
