// What wakes an object whose run was cut off: a record of the run, and an alarm that is set before it.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { RunRecords } from '../../src/run/run-records.ts'
import { RunWatchdog, type RunWatchdogParts } from '../../src/run/run-watchdog.ts'
import { later } from '../node-object.ts'

const HEARTBEAT_MS = 500

function createKv(): SyncKvStorage {
  const values = new Map<string, unknown>()
  const kv: Pick<SyncKvStorage, 'get' | 'put' | 'delete' | 'list'> = {
    get: <T>(key: string) => values.get(key) as T | undefined,
    put: (key, value) => void values.set(key, value),
    delete: (key) => values.delete(key),
    list: <T>() => [...values] as [string, T][],
  }
  return kv
}

function setup(more: Partial<RunWatchdogParts> = {}) {
  const records = new RunRecords(createKv())
  const rung: number[] = []
  const changes: string[][] = []
  const sessions = (): string[] => records.all().map(({ sessionId }) => sessionId)
  const clock = new ManualClock(1000)
  const watchdog = new RunWatchdog({
    records,
    clock,
    heartbeatMs: HEARTBEAT_MS,
    waitUntil: () => {},
    ringBy: async (at) => (await later(), void rung.push(at)),
    onChange: async () => (await later(), void changes.push(sessions())),
    onStarted: () => {},
    recover: async () => {},
    isLeft: async () => false,
    assertMayStart: () => {},
    ...more,
  })
  return { watchdog, records, clock, rung, changes, sessions }
}

function startedRun() {
  const done = Promise.withResolvers<never>()
  const run = { sessionId: 's', runId: 'r', done: done.promise }
  return { run, end: () => done.resolve(undefined as never) }
}

const record = { sessionId: 's', attempts: 0 }

describe('a run', () => {
  test('is recorded, with an alarm a heartbeat later, before it starts, until it has ended', async () => {
    const { watchdog, rung, changes, sessions } = setup()
    const { run, end } = startedRun()
    const before: unknown[] = []
    await watchdog.watch(record, async () => {
      before.push(...rung, ...sessions(), watchdog.isRunning('s'))
      return run
    })
    expect(before).toEqual([1000 + HEARTBEAT_MS, 's', true])
    expect([watchdog.running(), sessions(), changes]).toEqual([['s'], ['s'], []])
    end()
    await watchdog.untilAtRest()
    expect([watchdog.running(), sessions(), changes]).toEqual([[], [], [[]]])
  })

  test('keeps its record when the store still has it as running', async () => {
    const { watchdog, sessions, changes } = setup({ isLeft: async () => true })
    const { run, end } = startedRun()
    await watchdog.watch(record, async () => run)
    end()
    await watchdog.untilAtRest()
    expect([watchdog.isRunning('s'), sessions(), changes]).toEqual([false, ['s'], [['s']]])
  })

  test.each([
    ['leaves no record', undefined],
    ['leaves the record that was there', { sessionId: 's', attempts: 3 }],
  ])('that cannot start %s', async (_, earlier) => {
    const { watchdog, records, changes } = setup()
    if (earlier !== undefined) records.put(earlier)
    const failing = watchdog.watch(record, () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(records.get('s')).toEqual(earlier)
    expect([watchdog.isRunning('s'), changes.length]).toEqual([false, 1])
  })

  test('does not begin, and leaves nothing, while none may', async () => {
    const refused = new Error('not now')
    const { watchdog, rung, sessions } = setup({
      assertMayStart: () => {
        throw refused
      },
    })
    await expect(watchdog.watch(record, async () => startedRun().run)).rejects.toBe(refused)
    await expect(watchdog.note('s', async () => 1)).rejects.toBe(refused)
    expect([rung, sessions(), watchdog.running()]).toEqual([[], [], []])
  })
})

test('the platform and the readers hear of a run that has started, and of none that has not', async () => {
  const [waits, events]: [Promise<unknown>[], string[]] = [[], []]
  const { watchdog, sessions } = setup({
    waitUntil: (work) => void waits.push(work),
    onStarted: () => void events.push('started'),
  })
  const failing = watchdog.watch(record, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect([waits, events]).toEqual([[], []])
  const { run, end } = startedRun()
  expect(await watchdog.watch(record, async () => run)).toBe(run)
  expect([waits.length, events]).toEqual([1, ['started']])
  end()
  await waits[0]
  expect([sessions(), watchdog.running()]).toEqual([[], []])
  await watchdog.untilAtRest()
})

test('two runs of a session are counted: it runs until both have ended', async () => {
  const { watchdog, sessions, changes } = setup()
  const [first, second] = [startedRun(), startedRun()]
  await watchdog.watch(record, async () => first.run)
  await watchdog.watch(record, async () => second.run)
  first.end()
  await later()
  await later()
  expect([watchdog.isRunning('s'), sessions(), changes]).toEqual([true, ['s'], [['s']]])
  second.end()
  await watchdog.untilAtRest()
  expect([watchdog.isRunning('s'), sessions(), changes.at(-1)]).toEqual([false, [], []])
})

test('it takes up the runs of an earlier instance when it is woken', async () => {
  let isRecovered = false
  const { watchdog } = setup({
    recover: async () => {
      await later()
      isRecovered = true
    },
  })
  await watchdog.run()
  expect([watchdog.name, isRecovered]).toEqual(['runs', true])
})

describe('what a run has to act on', () => {
  test('is forgotten when it could not be stored', async () => {
    const { watchdog, sessions, changes } = setup()
    const failing = watchdog.note('s', () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect([sessions(), changes]).toEqual([[], [[]]])
  })

  test('is stored under a record, with an alarm a heartbeat later, and leaves none', async () => {
    const { watchdog, rung, changes, sessions } = setup()
    const during = await watchdog.note('s', async () => [...rung, ...sessions()])
    expect(during).toEqual([1000 + HEARTBEAT_MS, 's'])
    expect([sessions(), changes]).toEqual([[], [[]]])
  })

  test('leaves the record of the run that is under way, and what is known of it', async () => {
    const { watchdog, records, changes } = setup()
    const { run } = startedRun()
    await watchdog.watch({ sessionId: 's', attempts: 2 }, async () => run)
    await watchdog.note('s', async () => {})
    expect(records.get('s')).toEqual({ sessionId: 's', attempts: 2 })
    expect(changes).toEqual([])
  })
})

test('the next alarm is a heartbeat away while a run is under way, else when one is to be resumed', async () => {
  const { watchdog, records } = setup()
  expect(watchdog.nextAt(1000)).toBeUndefined()
  await watchdog.watch(record, async () => startedRun().run)
  expect(watchdog.nextAt(1000)).toBe(1000 + HEARTBEAT_MS)
  records.put({ sessionId: 'left', attempts: 1, retryAt: 1100 })
  expect(watchdog.nextAt(1000)).toBe(1100)
})
