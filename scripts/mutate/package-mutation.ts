import { compilingMutants } from './compiler.ts'
import { CoverageMap } from './coverage-map.ts'
import { Judge, type Verdict } from './judge.ts'
import { chooseMutants, type Mutant, mutantsOf } from './mutants.ts'
import { planOf } from './plan.ts'
import type { RepositoryCopy } from './repository-copy.ts'
import { type NumberedMutant, schemaOf } from './schema.ts'
import { RECORDING } from './tests/protocol.ts'
import type { TestServer } from './tests/test-server.ts'

/** A package whose tests are tried. */
export interface PackageTrial {
  readonly name: string
  /** The texts of the files that are changed. */
  readonly sources: ReadonlyMap<string, string>
  readonly count: number
  readonly seeds: readonly number[]
  /** The tests that may notice a change of a file, near ones first. */
  readonly testsOf: (file: string) => readonly string[]
  readonly copy: RepositoryCopy
  readonly createServer: (files: readonly string[]) => TestServer
  readonly graceMs: number
  /** A time of the clock; the mutants that are left then are not judged. */
  readonly until: number
  readonly print: (line: string) => void
}

/** The verdicts on the mutants of a seed. */
export interface SeedResult {
  readonly seed: number
  readonly verdicts: ReadonlyMap<NumberedMutant, Ending>
}

/** What has become of a mutant; `notCompiled`: the compiler notices what no test does. */
export type Ending = Verdict | 'notCompiled' | 'notReached'

/** Files whose tests are recorded in one process. */
const FILES_A_RECORDING = 20
/** Most mutants are noticed by one of so many files of tests; only the others meet more. */
const NEAR_FILES = 8
/** Only what hangs takes so long. */
const RECORDING_LIMIT_MS = 900_000
const LONE_LIMIT_MS = 300_000

/** Tries the tests of a package on the mutants of each seed. */
export async function mutatePackage(trial: PackageTrial): Promise<readonly SeedResult[]> {
  const mutants = [...trial.sources].flatMap(([file, text]) => mutantsOf(file, text))
  const bySeed = trial.seeds.map((seed) => chooseMutants(mutants, trial.count, seed))
  const numbered = new Map(
    [...new Set(bySeed.flat())].map((mutant, index) => [mutant, { ...mutant, id: index + 1 }]),
  )
  for (const [file, text] of trial.sources) {
    trial.copy.write(file, schemaOf(text, inFile(numbered, file)))
  }
  const endings = await judgeAll(trial, [...numbered.values()])
  return trial.seeds.map((seed, index) => ({
    seed,
    verdicts: new Map(
      (bySeed[index] ?? []).flatMap((mutant) => {
        const each = numbered.get(mutant)
        return each === undefined ? [] : [[each, endings.get(each) ?? 'notReached'] as const]
      }),
    ),
  }))
}

function inFile(
  mutants: ReadonlyMap<Mutant, NumberedMutant>,
  file: string,
): readonly NumberedMutant[] {
  return [...mutants.values()].filter((mutant) => mutant.file === file)
}

async function judgeAll(
  trial: PackageTrial,
  mutants: readonly NumberedMutant[],
): Promise<Map<NumberedMutant, Ending>> {
  const files = testsOfAll(trial, mutants)
  const endings = new Map<NumberedMutant, Ending>()
  if (files.length > 0) {
    const server = trial.createServer(files)
    try {
      await judgeInWaves({ ...trial, server, mutants, endings })
    } finally {
      server.stop()
    }
  }
  trial.copy.restore()
  const lived = mutants.filter((mutant) => isAlive(endings.get(mutant)))
  const originalOf = (file: string): string => trial.sources.get(file) ?? ''
  const compiling = new Set(compilingMutants(lived, originalOf, trial.copy))
  for (const mutant of lived) if (!compiling.has(mutant)) endings.set(mutant, 'notCompiled')
  return endings
}

function testsOfAll(
  { testsOf }: Pick<PackageTrial, 'testsOf'>,
  mutants: readonly NumberedMutant[],
): readonly string[] {
  return [...new Set(mutants.flatMap(({ file }) => testsOf(file)))]
}

function isAlive(ending: Ending | undefined): boolean {
  return ending === 'survived' || ending === 'unreached'
}

interface Judging extends PackageTrial {
  readonly server: TestServer
  readonly mutants: readonly NumberedMutant[]
  readonly endings: Map<NumberedMutant, Ending>
}

/** Tries the near tests of each mutant, and the others on what these have not noticed. */
async function judgeInWaves(judging: Judging): Promise<void> {
  const { mutants, endings } = judging
  const coverage = new CoverageMap()
  const soFar = new Map<NumberedMutant, Verdict>()
  const recorded = new Set<string>()
  for (const [from, to] of [
    [0, NEAR_FILES],
    [NEAR_FILES, undefined],
  ] as const) {
    const testsOf = (file: string): readonly string[] => judging.testsOf(file).slice(from, to)
    const left = mutants.filter((mutant) => !endings.has(mutant))
    const files = testsOfAll({ testsOf }, left).filter((file) => !recorded.has(file))
    for (const file of files) recorded.add(file)
    await record(judging, files, coverage)
    await judgeEach({ ...judging, testsOf, mutants: left }, coverage, (mutant, verdict) => {
      const worse = worseOf(soFar.get(mutant), verdict)
      soFar.set(mutant, worse)
      const isLast = to === undefined || judging.testsOf(mutant.file).length <= to
      return isLast || verdict === 'killed' || verdict === 'timeout' ? worse : undefined
    })
  }
}

const WORSE: readonly Verdict[] = ['unreached', 'survived', 'unjudged', 'timeout', 'killed']

/** What near tests and far ones say of a mutant together. */
function worseOf(one: Verdict = 'unreached', other: Verdict): Verdict {
  return WORSE.indexOf(one) < WORSE.indexOf(other) ? other : one
}

/** Runs tests once, to know which of them reach what. */
async function record(
  judging: Judging,
  files: readonly string[],
  coverage: CoverageMap,
): Promise<void> {
  const { name, print, until } = judging
  const failing = new Set(coverage.failing)
  for (let at = 0; at < files.length && Date.now() < until; at += FILES_A_RECORDING) {
    const batch = files.slice(at, at + FILES_A_RECORDING)
    await recordBatch(judging, batch, coverage)
    print(`${name}: ${at + batch.length} of ${files.length} files of tests recorded`)
  }
  for (const report of coverage.failing) {
    if (failing.has(report)) continue
    print(`${name}: ${report.file} fails without a mutant: ${report.failure}`)
  }
}

/** One that hangs or ends its process takes the others with it: then each runs alone. */
async function recordBatch(
  judging: Judging,
  files: readonly string[],
  coverage: CoverageMap,
): Promise<void> {
  const { name, print, server } = judging
  const tests = files.map((file) => ({ file }))
  const limitMs = files.length > 1 ? RECORDING_LIMIT_MS : LONE_LIMIT_MS
  const end = await server.run({ mutant: RECORDING, tests }, limitMs)
  const { files: reports, errors } = typeof end === 'string' ? { files: [], errors: [end] } : end
  for (const report of reports) coverage.add(report)
  for (const error of errors) print(`${name}: without a mutant: ${error}: ${files.join(' ')}`)
  const reported = new Set(reports.map(({ file }) => file))
  const missing = files.filter((file) => !reported.has(file))
  if (files.length > 1) for (const file of missing) await recordBatch(judging, [file], coverage)
  else for (const file of missing) print(`${name}: ${file} is left out`)
}

/** @param endOf what has become of a mutant; nothing while other tests are to be tried on it. */
async function judgeEach(
  { name, testsOf, graceMs, until, print, server, mutants, endings }: Judging,
  coverage: CoverageMap,
  endOf: (mutant: NumberedMutant, verdict: Verdict) => Verdict | undefined,
): Promise<void> {
  const judge = new Judge({
    run: (request, limitMs) => server.run(request, limitMs),
    planOf: (mutant) => planOf(mutant, testsOf(mutant.file), coverage),
    graceMs,
    onFailingControl: (tests, how) => {
      const names = tests.map(({ file }) => file).join(' ')
      print(`${name}: a control fails: ${names}: ${how}`)
    },
  })
  for (const mutant of mutants) {
    if (Date.now() >= until) return
    const ending = endOf(mutant, await judge.judge(mutant))
    if (ending === undefined) continue
    endings.set(mutant, ending)
    const { operator, file, line } = mutant
    print(`${name}: ${endings.size} judged, ${ending}: ${operator} at ${file}:${line}`)
  }
}
