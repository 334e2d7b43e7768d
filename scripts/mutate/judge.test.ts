import { expect, test } from 'vitest'
import { Judge } from './judge.ts'
import { mutantsOf } from './mutants.ts'
import type { TestRequest } from './tests/protocol.ts'
import type { RunEnd } from './tests/test-server.ts'

const mutant = { ...mutantsOf('a.ts', 'f()')[0]!, id: 7 }
const files = ['a.test.ts', 'b.test.ts']

function report(...failed: readonly string[]): RunEnd {
  return {
    files: files.map((file) => ({
      file,
      passed: !failed.includes(file),
      failure: failed.includes(file) ? `${file} failed` : undefined,
      ms: 1,
      reached: [],
      tests: [],
    })),
    errors: [],
  }
}

interface World {
  readonly mutated: RunEnd | ((request: TestRequest) => RunEnd)
  readonly plain?: (request: TestRequest) => RunEnd
  readonly reaching?: readonly string[]
}

function setup({ mutated, plain = () => report(), reaching = files }: World) {
  const runs: [mutant: number, tests: string, limitMs: number][] = []
  const failures: string[] = []
  const judge = new Judge({
    graceMs: 1000,
    onFailingControl: (_, how) => void failures.push(how),
    planOf: () => ({ tests: reaching.map((file) => ({ file, ids: ['1'], ms: 50 })), ms: 100 }),
    run: (request, limitMs) => {
      const names = request.tests.map(({ file, ids }) => `${file}:${ids ?? 'all'}`).join(' ')
      runs.push([request.mutant, names, limitMs])
      if (request.mutant === 0) return Promise.resolve(plain(request))
      return Promise.resolve(typeof mutated === 'function' ? mutated(request) : mutated)
    },
  })
  return { judge, runs, failures }
}

test('a mutant with which a test fails is killed; this test has to pass without it', async () => {
  const { judge, runs } = setup({ mutated: report('b.test.ts') })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs).toEqual([
    [7, 'a.test.ts:1 b.test.ts:1', 1500],
    [0, 'b.test.ts:1', 3000],
  ])
})

test('one that no test notices has survived, without a control', async () => {
  const { judge, runs } = setup({ mutated: report() })
  expect(await judge.judge(mutant)).toBe('survived')
  expect(runs).toHaveLength(1)
})

test('nothing runs for one that no test reaches', async () => {
  const { judge, runs } = setup({ mutated: report(), reaching: [] })
  expect(await judge.judge(mutant)).toBe('unreached')
  expect(runs).toEqual([])
})

test('a run that does not end in its time, or ends without a report, kills', async () => {
  expect(await setup({ mutated: 'timed-out' }).judge.judge(mutant)).toBe('timeout')
  expect(await setup({ mutated: 'crashed' }).judge.judge(mutant)).toBe('killed')
  const error = { files: [], errors: ['unhandled'] }
  expect(await setup({ mutated: error }).judge.judge(mutant)).toBe('killed')
})

test('a control counts for ten mutants', async () => {
  const { judge, runs } = setup({ mutated: report('a.test.ts') })
  for (let count = 0; count < 20; count += 1) await judge.judge(mutant)
  expect(runs.filter(([id]) => id === 0)).toHaveLength(3)
})

test('tests that need others of their file run with them', async () => {
  const { judge, runs } = setup({
    mutated: report('a.test.ts'),
    plain: ({ tests }) => (tests[0]?.ids === undefined ? report() : report('a.test.ts')),
  })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs.at(-1)).toEqual([0, 'a.test.ts:all', 7000])
})

test('tests that fail without the mutant say nothing, and how they fail is told', async () => {
  for (const [plain, how] of [
    [report('a.test.ts'), 'a.test.ts failed'],
    ['timed-out', 'timed-out'],
    ['crashed', 'crashed'],
  ] as const) {
    const { judge, failures } = setup({ mutated: report('a.test.ts'), plain: () => plain })
    expect(await judge.judge(mutant)).toBe('unjudged')
    expect(failures).toEqual([how, how])
  }
})
