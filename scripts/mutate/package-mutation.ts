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
/** Only what hangs takes so long. */
const RECORDING_LIMIT_MS = 900_000

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
  const files = [...new Set(mutants.flatMap(({ file }) => trial.testsOf(file)))]
  const endings = new Map<NumberedMutant, Ending>()
  if (files.length > 0) {
    const server = trial.createServer(files)
    try {
      const coverage = await record(trial, server, files)
      await judgeEach(trial, server, { mutants, coverage, endings })
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

function isAlive(ending: Ending | undefined): boolean {
  return ending === 'survived' || ending === 'unreached'
}

/** Runs the tests once, to know which of them reach what. */
async function record(
  { name, print, until }: PackageTrial,
  server: TestServer,
  files: readonly string[],
): Promise<CoverageMap> {
  const coverage = new CoverageMap()
  for (let at = 0; at < files.length && Date.now() < until; at += FILES_A_RECORDING) {
    const tests = files.slice(at, at + FILES_A_RECORDING).map((file) => ({ file }))
    const end = await server.run({ mutant: RECORDING, tests }, RECORDING_LIMIT_MS)
    if (typeof end === 'string') {
      print(
        `${name}: these tests are left out, they ${end} without a mutant: ${tests.map(({ file }) => file).join(' ')}`,
      )
      continue
    }
    for (const report of end.files) coverage.add(report)
    for (const error of end.errors) print(`${name}: an error without a mutant: ${error}`)
    print(`${name}: ${at + tests.length} of ${files.length} files of tests recorded`)
  }
  for (const { file, failure } of coverage.failing) {
    print(`${name}: ${file} fails without a mutant: ${failure}`)
  }
  return coverage
}

interface Judging {
  readonly mutants: readonly NumberedMutant[]
  readonly coverage: CoverageMap
  readonly endings: Map<NumberedMutant, Ending>
}

async function judgeEach(
  { name, testsOf, graceMs, until, print }: PackageTrial,
  server: TestServer,
  { mutants, coverage, endings }: Judging,
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
    const verdict = await judge.judge(mutant)
    endings.set(mutant, verdict)
    const { operator, file, line } = mutant
    print(
      `${name}: ${endings.size} of ${mutants.length}: ${verdict}: ${operator} at ${file}:${line}`,
    )
  }
}
