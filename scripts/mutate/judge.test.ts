import { expect, test } from 'vitest'
import { Judge } from './judge.ts'
import { mutantsOf } from './mutants.ts'
import type { OneTestReport, TestReport, TestRequest } from './tests/protocol.ts'
import type { RunEnd } from './tests/test-server.ts'

const mutant = { ...mutantsOf('a.ts', 'f()')[0]!, id: 7 }
const files = ['a.test.ts', 'b.test.ts']

function one(id: string, state: OneTestReport['state']): OneTestReport {
  return { id, name: id, state, ms: 1, reached: [] }
}

function report(...failed: readonly string[]): TestReport {
  return {
    files: files.map((file) => {
      const isFailed = failed.includes(file)
      return {
        file,
        passed: !isFailed,
        failure: isFailed ? `${file} failed` : undefined,
        ms: 1,
        loaded: [],
        reached: [],
        tests: [one('1', 'passed'), one('2', isFailed ? 'failed' : 'passed'), one('3', 'skipped')],
      }
    }),
    errors: [],
  }
}

type Answer = RunEnd | ((request: TestRequest) => RunEnd)

interface World {
  readonly mutated: Answer
  readonly plain?: Answer
  readonly reaching?: readonly string[]
  readonly isLoaded?: boolean
}

function setup({ mutated, plain = report(), reaching = files, isLoaded = false }: World) {
  const runs: string[] = []
  const requests: TestRequest[] = []
  const failures: string[] = []
  const kills: string[] = []
  const judge = new Judge({
    graceMs: 1000,
    startingMs: 10_000,
    onKill: (_, tests) => void kills.push(...tests.map(({ file }) => file)),
    onFailingControl: (_, how) => void failures.push(how),
    planOf: () => ({
      tests: reaching.map((file) => ({ file, ids: ['1', '2', '3'], ms: 50, loadingMs: 5 })),
      isLoaded,
    }),
    run: (request) => {
      const names = request.tests.map(({ file, ids }) => `${file}:${ids?.join('') ?? 'all'}`)
      requests.push(request)
      runs.push([request.mutant, request.processes, ...names].join(' '))
      const answer = request.mutant === 0 ? plain : mutated
      return Promise.resolve(typeof answer === 'function' ? answer(request) : answer)
    },
  })
  return { judge, runs, requests, failures, kills }
}

/** An answer of processes that other mutants had before, and that of new ones. */
function byProcesses(shared: RunEnd, fresh: RunEnd): Answer {
  return ({ processes }) => (processes === 'new' ? fresh : shared)
}

test('a mutant is killed when a test fails with it and then passes in the same processes', async () => {
  const { judge, runs, kills } = setup({ mutated: report('b.test.ts') })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs).toEqual([
    '7 renewed a.test.ts:123',
    '7 shared b.test.ts:123',
    '0 shared b.test.ts:12',
  ])
  expect(kills).toEqual(['b.test.ts'])
})

test('a mutant may take a multiple of its tests and a grace, and new processes also start', async () => {
  const { judge, requests } = setup({ mutated: report() })
  await judge.judge(mutant)
  expect(requests.map(({ processes }) => processes)).toEqual(['renewed', 'shared', 'new'])
  expect(requests.map(({ limitMs }) => limitMs)).toEqual([11_165, 1165, 11_330])
  expect(requests.map(({ testTimeoutMs }) => testTimeoutMs)).toEqual([1150, 1150, 1150])
})

test('what earlier mutants have left behind kills none: it is tried again in new processes', async () => {
  const { judge, runs } = setup({
    mutated: byProcesses(report('a.test.ts'), report()),
    plain: byProcesses(report('a.test.ts'), report()),
  })
  expect(await judge.judge(mutant)).toBe('survived')
  expect(runs).toEqual([
    '7 renewed a.test.ts:123',
    '0 shared a.test.ts:12',
    '7 new a.test.ts:123',
    '7 new a.test.ts:123 b.test.ts:123',
  ])
})

test('one that no test notices has to survive in new processes too', async () => {
  const survivor = setup({ mutated: report() })
  expect(await survivor.judge.judge(mutant)).toBe('survived')
  expect(survivor.runs.map((run) => run.slice(0, 5))).toEqual(['7 ren', '7 sha', '7 new'])
  const hidden = setup({ mutated: byProcesses(report(), report('a.test.ts')) })
  expect(await hidden.judge.judge(mutant)).toBe('killed')
  expect(hidden.runs.at(-1)).toBe('0 new a.test.ts:123')
})

test('a survivor whose other tests come later is not confirmed yet', async () => {
  const { judge, runs } = setup({ mutated: report() })
  expect(await judge.judge(mutant, false)).toBe('survived')
  expect(runs.filter((run) => run.startsWith('7 new'))).toEqual([])
})

test('after a control that fails or a time that is over, the shared processes are new ones', async () => {
  for (const mutated of [report('a.test.ts'), 'timed-out'] as const) {
    const { judge, runs } = setup({ mutated, plain: byProcesses(report('a.test.ts'), report()) })
    await judge.judge(mutant)
    await judge.judge(mutant)
    expect(runs.filter((run) => run.startsWith('7 renewed'))).toHaveLength(2)
  }
})

test('one that acts while files are loaded gets new processes at once', async () => {
  const { judge, runs } = setup({ mutated: report('a.test.ts'), isLoaded: true })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs).toEqual(['7 new a.test.ts:123 b.test.ts:123', '0 new a.test.ts:123'])
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

test('a time that is over only among other mutants does not kill', async () => {
  const { judge } = setup({ mutated: byProcesses('timed-out', report()) })
  expect(await judge.judge(mutant)).toBe('survived')
})

test('a control in new processes counts for ten mutants', async () => {
  const { judge, runs } = setup({ mutated: report('a.test.ts'), isLoaded: true })
  for (let count = 0; count < 20; count += 1) await judge.judge(mutant)
  expect(runs.filter((run) => run.startsWith('0'))).toHaveLength(3)
})

test('processes end after a hundred runs', async () => {
  const { judge, runs } = setup({ mutated: report('a.test.ts') })
  for (let count = 0; count < 201; count += 1) await judge.judge(mutant)
  expect(runs.filter((run) => run.startsWith('7 renewed'))).toHaveLength(3)
})

test('tests that need others of their file run with them', async () => {
  const { judge, runs } = setup({
    mutated: report('a.test.ts'),
    plain: ({ tests }) => (tests[0]?.ids === undefined ? report() : report('a.test.ts')),
  })
  expect(await judge.judge(mutant)).toBe('killed')
  expect(runs.at(-1)).toBe('0 new a.test.ts:all')
})

test('tests that fail without the mutant say nothing, and how they fail is told', async () => {
  for (const [plain, how] of [
    [report('a.test.ts'), 'a.test.ts failed'],
    ['timed-out', 'timed-out'],
    ['crashed', 'crashed'],
  ] as const) {
    const { judge, failures } = setup({ mutated: report('a.test.ts'), plain })
    expect(await judge.judge(mutant)).toBe('unjudged')
    expect(new Set(failures)).toEqual(new Set([how]))
  }
})
