// Changes one thing at a time in the sources of a package and runs the tests that import them:
// `pnpm mutate [package|--changed] [--count N] [--seed S]`. Prints what no test has noticed.
import { execFileSync } from 'node:child_process'
import { createTwoFilesPatch } from 'diff'
import { find, read, root } from '../repository.ts'
import { isWithin, type MutateOptions, parseOptions } from './arguments.ts'
import { isMutable, readImporters, testsOf } from './import-graph.ts'
import { Judge, type Verdict } from './judge.ts'
import { chooseMutants, type Mutant, mutantsOf } from './mutants.ts'
import { RepositoryCopy } from './repository-copy.ts'
import { runTests } from './run-tests.ts'

const options = parseOptions(process.argv.slice(2))
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)))
}
const copy = new RepositoryCopy(root)
try {
  const survivors = await mutate(options, copy)
  process.exitCode = survivors === 0 ? 0 : 1
} catch (error) {
  if (!stop.signal.aborted) throw error
  process.exitCode = 130
} finally {
  copy.remove()
}

/** Judges the mutants of each package; the result is how many lived. */
async function mutate(wanted: MutateOptions, within: RepositoryCopy): Promise<number> {
  const judge = createJudge(wanted, within)
  const byPackage = Object.entries(
    Object.groupBy(sourcesOf(wanted), (file) => file.split('/')[1] ?? ''),
  )
  const end = wanted.limitMs === undefined ? Infinity : Date.now() + wanted.limitMs
  let survivors = 0
  for (const [index, [name, files = []]] of byPackage.entries()) {
    const mutants = files.flatMap((file) => mutantsOf(file, read(file)))
    const chosen = chooseMutants(mutants, wanted.count, wanted.seed)
    // Each package gets an equal share of the time that is left.
    const until = Date.now() + (end - Date.now()) / (byPackage.length - index)
    const counts = await judgeAll(judge, chosen, until)
    survivors += counts.survived
    console.log(summaryOf(name, counts, wanted.seed))
  }
  return survivors
}

type Counts = Record<Verdict | 'notReached', number>

async function judgeAll(judge: Judge, mutants: readonly Mutant[], until: number): Promise<Counts> {
  const counts: Counts = { killed: 0, survived: 0, unjudged: 0, notReached: 0 }
  for (const mutant of mutants) {
    if (Date.now() >= until) {
      counts.notReached += 1
      continue
    }
    const verdict = await judge.judge(mutant)
    counts[verdict] += 1
    report(mutant, verdict)
  }
  return counts
}

function sourcesOf({ target, changedSince }: MutateOptions): readonly string[] {
  const files = find('packages/*/src/**/*.ts').filter(
    (file) => isMutable(file) && isWithin(target, file),
  )
  if (changedSince === undefined) return files
  const base = git('merge-base', changedSince, 'HEAD').trim()
  const changed = new Set([
    ...git('diff', '--name-only', base).split('\n'),
    ...git('ls-files', '-o', '--exclude-standard').split('\n'),
  ])
  return files.filter((file) => changed.has(file))
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}

function createJudge({ maxTests, timeoutMs }: MutateOptions, within: RepositoryCopy): Judge {
  const importers = readImporters(
    find(['packages/*/src/**/*.ts', 'packages/*/test/**/*.ts', 'examples/**/*.ts']),
  )
  const { folder, temporary } = within
  return new Judge({
    maxTests,
    testsOf: (file) => testsOf(file, importers),
    run: (files, mutant) => {
      const run = () => runTests({ folder, temporary, files, timeoutMs, signal: stop.signal })
      return mutant === undefined ? run() : within.withText(mutant.file, mutant.text, run)
    },
  })
}

function report({ file, line, operator, text }: Mutant, verdict: Verdict): void {
  console.log(`${verdict}: ${operator} at ${file}:${line}`)
  if (verdict !== 'survived') return
  const diff = createTwoFilesPatch(`a/${file}`, `b/${file}`, read(file), text, '', '', {
    context: 2,
  })
  console.log(diff)
}

function summaryOf(name: string, counts: Counts, seed: number): string {
  const judged = counts.killed + counts.survived
  const score = judged === 0 ? '-' : `${Math.round((100 * counts.killed) / judged)} %`
  const unjudged =
    counts.unjudged === 0 ? '' : `, ${counts.unjudged} not judged: their tests fail without`
  const late = counts.notReached === 0 ? '' : `, ${counts.notReached} not reached in the time`
  return `${name}: ${counts.killed} of ${judged} mutants killed (${score}), seed ${seed}${unjudged}${late}`
}
