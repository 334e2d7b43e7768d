import { compilingMutants } from './compiler.ts'
import type { Verdict } from './judge.ts'
import { chooseMutants, mutantsOf } from './mutants.ts'
import type { RepositoryCopy } from './repository-copy.ts'
import { type NumberedMutant, schemaOf } from './schema.ts'
import type { TestServer } from './tests/test-server.ts'
import { judgeInWaves, testsOfAll } from './waves.ts'

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

/**
 * What has become of a mutant; `notCompiled`: the compiler notices what no test does; `undecided`: the near
 * tests have not noticed it, and the time was over before others did.
 */
export type Ending = Verdict | 'notCompiled' | 'notReached' | 'undecided'

/** What judges at once. */
const SERVERS = 2

/** Tries the tests of a package on the mutants of each seed: those that the compiler accepts. */
export async function mutatePackage(trial: PackageTrial): Promise<readonly SeedResult[]> {
  const mutants = [...trial.sources].flatMap(([file, text]) => mutantsOf(file, text))
  const bySeed = trial.seeds.map((seed) => chooseMutants(mutants, trial.count, seed))
  const numbered = new Map(
    [...new Set(bySeed.flat())].map((mutant, index) => [mutant, { ...mutant, id: index + 1 }]),
  )
  const endings = await endingsOf(trial, [...numbered.values()])
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

async function endingsOf(
  trial: PackageTrial,
  mutants: readonly NumberedMutant[],
): Promise<ReadonlyMap<NumberedMutant, Ending>> {
  const { sources, copy } = trial
  const compiling = new Set(compilingMutants(mutants, (file) => sources.get(file) ?? '', copy))
  const endings = new Map<NumberedMutant, Ending>()
  for (const mutant of mutants) if (!compiling.has(mutant)) endings.set(mutant, 'notCompiled')
  trial.print(`${trial.name}: ${compiling.size} of ${mutants.length} mutants compile`)
  for (const [file, text] of sources) {
    const ofFile = [...compiling].filter((mutant) => mutant.file === file)
    copy.write(file, schemaOf(text, ofFile))
  }
  for (const [mutant, verdict] of await judgeAll(trial, [...compiling])) {
    endings.set(mutant, verdict)
  }
  copy.restore()
  return endings
}

async function judgeAll(
  trial: PackageTrial,
  mutants: readonly NumberedMutant[],
): Promise<ReadonlyMap<NumberedMutant, Ending>> {
  const files = testsOfAll(trial, mutants)
  const endings = new Map<NumberedMutant, Verdict | 'undecided'>()
  if (files.length === 0) return endings
  const servers = Array.from({ length: SERVERS }, () => trial.createServer(files))
  try {
    await judgeInWaves({ ...trial, servers, mutants, endings })
  } finally {
    for (const server of servers) server.stop()
  }
  return endings
}
