import { expect, test } from 'vitest'
import { Judge } from './judge.ts'
import type { Mutant } from './mutants.ts'
import type { TestsEnd } from './run-tests.ts'

const mutant: Mutant = { file: 'a.ts', operator: 'remove-call', line: 1, text: '' }
const tests = Array.from({ length: 9 }, (_, index) => `${index}.test.ts`)

interface World {
  /** How the tests with a mutant end, run by run. */
  readonly mutated: readonly TestsEnd[]
  readonly plain?: TestsEnd
  readonly maxTests?: number
}

function setup({ mutated, plain = 'passed', maxTests = 8 }: World) {
  const runs: string[] = []
  const ends = [...mutated]
  const judge = new Judge({
    maxTests,
    testsOf: () => tests,
    run: async (files, changed) => {
      runs.push(`${changed === undefined ? 'plain' : 'mutant'} ${files.length}`)
      return changed === undefined ? plain : (ends.shift() ?? 'passed')
    },
  })
  return { judge, runs }
}

test('a mutant that the near tests notice meets no others', async () => {
  const { judge, runs } = setup({ mutated: ['failed'] })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs).toEqual(['mutant 5', 'plain 5'])
})

test('one that no test notices has survived', async () => {
  const { judge, runs } = setup({ mutated: ['passed', 'passed'] })
  expect(await judge.judge(mutant)).toBe('survived')
  expect(runs).toEqual(['mutant 5', 'mutant 3'])
})

test('the tests without a mutant run once', async () => {
  const { judge, runs } = setup({ mutated: ['failed', 'timed-out', 'passed', 'failed'] })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(await judge.judge(mutant)).toBe('killed')
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs).toEqual(['mutant 5', 'plain 5', 'mutant 5', 'mutant 5', 'mutant 3', 'plain 3'])
})

test('tests that fail without a mutant say nothing', async () => {
  for (const plain of ['failed', 'timed-out'] as const) {
    const { judge } = setup({ mutated: ['failed'], plain })
    expect(await judge.judge(mutant)).toBe('unjudged')
  }
})
