import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import type { TestSampler } from '../../packages/core/src/testing/test-sampler.ts'

const SLOWEST_FILES = 10
/** Less says nothing about a file. */
const SLOW_FROM_MS = 1000
const PROGRESS_EVERY_FILES = 25

export interface FileTimes {
  readonly file: string
  readonly seconds: number
}

/** Names the seed of a run, shows its progress, and ends with its slowest files and the plain total that CI reads. */
export function createRunReporter(
  { seed, isExhaustive }: Pick<TestSampler, 'seed' | 'isExhaustive'>,
  print: (line: string) => void = console.log,
): Reporter {
  let files = 0
  let ended = 0
  return {
    onTestRunStart(specifications) {
      files = specifications.length
      ended = 0
      print(isExhaustive ? 'nothing is sampled' : `samples repeat with HELIX_SEED=${seed}`)
    },
    onTestModuleEnd() {
      ended += 1
      if (ended % PROGRESS_EVERY_FILES === 0) print(`${ended} of ${files} files`)
    },
    onTestRunEnd(modules) {
      for (const line of slowestFiles(modules.map(timesOf))) print(line)
      const states = modules
        .flatMap((module) => [...module.children.allTests()])
        .map((one) => one.result().state)
      if (states.includes('failed') && !isExhaustive) {
        print(`samples repeat with HELIX_SEED=${seed}`)
      }
      print(totalLine(states))
    },
  }
}

function timesOf(module: TestModule): FileTimes {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic()
  const ms = collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration
  return { file: relative(process.cwd(), module.moduleId), seconds: ms / 1000 }
}

/** @returns nothing for a run without slow files. */
export function slowestFiles(times: readonly FileTimes[]): readonly string[] {
  const slow = times
    .filter(({ seconds }) => seconds * 1000 >= SLOW_FROM_MS)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_FILES)
  if (slow.length === 0) return []
  return [
    'slowest files:',
    ...slow.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`),
  ]
}

/** @returns such as `12 passed, 0 failed` or `12 passed, 0 failed, 3 skipped`. */
export function totalLine(states: readonly string[]): string {
  const count = (state: string): number => states.filter((one) => one === state).length
  const skipped = count('skipped')
  const total = `${count('passed')} passed, ${count('failed')} failed`
  return skipped > 0 ? `${total}, ${skipped} skipped` : total
}
