// Changes one thing at a time in the sources of a package and runs the tests that reach it:
// `pnpm mutate [package|path...] [--changed] [--count N] [--seed S]`. Prints what no test has noticed.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { find, read, root } from '../repository.ts'
import { Affinity } from './nearest/affinity.ts'
import { isWithin, type MutateOptions, parseOptions } from './arguments.ts'
import { isMutable, readImporters, testsOf } from './nearest/import-graph.ts'
import { mutatePackage } from './package-mutation.ts'
import { RepositoryCopy } from './repository-copy.ts'
import { scoreLine, scoreRecord, survivorDiffs, survivorsOf } from './score.ts'
import { type Command, confined, whyNotConfined } from './tests/confinement.ts'
import { TestServer } from './tests/test-server.ts'

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
  const confine = confinementOf(wanted, within)
  const { folder } = within
  const importers = readImporters(
    find(['packages/*/src/**/*.ts', 'packages/*/test/**/*.ts', 'examples/**/*.ts']),
  )
  const affinity = new Affinity(find('{packages,examples}/**/*.test.ts'), read)
  const affinityOf = (file: string, test: string): number => affinity.of(file, test)
  const byPackage = Object.entries(
    Object.groupBy(sourcesOf(wanted), (file) => file.split('/')[1] ?? ''),
  )
  const end = wanted.limitMs === undefined ? Infinity : Date.now() + wanted.limitMs
  const scores: string[] = []
  const records: unknown[] = []
  let survivors = 0
  for (const [index, [name, files = []]] of byPackage.entries()) {
    const results = await mutatePackage({
      ...wanted,
      name,
      sources: new Map(files.map((file) => [file, read(file)])),
      testsOf: (file) => testsOf(file, importers, affinityOf).slice(0, wanted.maxTests),
      copy: within,
      createServer: (tests) =>
        new TestServer({ folder, files: tests, confine, signal: stop.signal }),
      // Each package gets an equal share of the time that is left.
      until: Date.now() + (end - Date.now()) / (byPackage.length - index),
      print: console.log,
    })
    for (const result of results) {
      for (const diff of survivorDiffs(result, read)) console.log(diff)
      survivors += survivorsOf(result)
      scores.push(scoreLine(name, result))
      records.push(scoreRecord(name, result, read))
    }
    if (wanted.jsonFile !== undefined) {
      writeFileSync(wanted.jsonFile, `${JSON.stringify(records, undefined, 2)}\n`)
    }
  }
  for (const line of scores) console.log(line)
  return survivors
}

/** How tests are started: where they can harm nothing but the copy, unless it is wanted otherwise. */
function confinementOf(
  { isUnconfined }: MutateOptions,
  { outer, temporary }: RepositoryCopy,
): (command: Command) => Command {
  if (isUnconfined) return (command) => ['env', `TMPDIR=${temporary}`, ...command]
  const reason = whyNotConfined(outer)
  if (reason === undefined) return (command) => confined(command, outer)
  throw new Error(
    `mutants cannot be confined here (${reason}); --unconfined runs them all the same`,
  )
}

function sourcesOf({ targets, changedSince }: MutateOptions): readonly string[] {
  const files = find('packages/*/src/**/*.ts').filter(
    (file) => isMutable(file) && isWithin(targets, file),
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
