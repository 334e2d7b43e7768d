import { parseArgs } from 'node:util'

/** What `pnpm mutate` is asked for. */
export interface MutateOptions {
  /** Folders of `packages/`, and paths of sources; every package without one. */
  readonly targets: readonly string[]
  /** Only files that differ from this ref of git. */
  readonly changedSince: string | undefined
  /** Mutants of each package; `Infinity` for every one. */
  readonly count: number
  readonly seeds: readonly number[]
  /** Files of tests that run for one mutant at most. */
  readonly maxTests: number
  /** What a mutant may take beside a multiple of what its tests take without it. */
  readonly graceMs: number
  /** For all mutants; what is not judged in it is counted. */
  readonly limitMs: number | undefined
  /** Where the scores and the survivors are written. */
  readonly jsonFile: string | undefined
  /** Whether mutants may reach the whole machine. */
  readonly isUnconfined: boolean
}

/**
 * Reads the command line.
 * @throws {TypeError} for an unknown option.
 * @throws {RangeError} for a number that is not a positive whole one.
 */
export function parseOptions(args: readonly string[]): MutateOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      changed: { type: 'boolean', default: false },
      base: { type: 'string', default: 'main' },
      count: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      tests: { type: 'string', default: '60' },
      seconds: { type: 'string', default: '5' },
      minutes: { type: 'string' },
      json: { type: 'string' },
      unconfined: { type: 'boolean', default: false },
    },
  })
  return {
    targets: positionals,
    changedSince: values.changed ? values.base : undefined,
    count: values.count === 'all' ? Infinity : toCount('count', values.count),
    seeds: values.seed.split(',').map((seed) => toCount('seed', seed)),
    maxTests: toCount('tests', values.tests),
    graceMs: toCount('seconds', values.seconds) * 1000,
    limitMs: values.minutes === undefined ? undefined : toCount('minutes', values.minutes) * 60_000,
    jsonFile: values.json,
    isUnconfined: values.unconfined,
  }
}

function toCount(name: string, text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new RangeError(`--${name} must be a whole number from 1, not ${text}`)
}

/** Whether a file belongs to a target: a package by its folder's name, or what lies below a path. */
export function isWithin(targets: readonly string[], file: string): boolean {
  if (targets.length === 0) return true
  return targets
    .map((target) => target.replace(/\/+$/, ''))
    .flatMap((path) => [path, `packages/${path}`])
    .some((folder) => file === folder || file.startsWith(`${folder}/`))
}
