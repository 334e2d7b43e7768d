// What a new instance does with the runs that the one before has left.
import { type Agent, defineAgent, SessionError } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { ModelPerRun } from '../../src/run/model-per-run.ts'
import { recoverRuns } from '../../src/run/recover-runs.ts'
import { dueAt, MAX_DELAY_MS, RunRecords } from '../../src/run/run-records.ts'
import { createSteps } from '../node-object.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const NOW = 1000

function createKv(isFull = () => false) {
  const values = new Map<string, unknown>()
  const kv: Pick<SyncKvStorage, 'get' | 'put' | 'delete' | 'list'> = {
    get: <T>(key: string) => values.get(key) as T | undefined,
    put: (key, value) => {
      if (isFull()) throw new Error('database or disk is full: SQLITE_FULL')
      values.set(key, value)
    },
    delete: (key) => values.delete(key),
    list: <T>({ prefix = '' }: { prefix?: string } = {}) =>
      [...values].filter(([key]) => key.startsWith(prefix)) as [string, T][],
  }
  return { kv: kv as SyncKvStorage, values }
}

interface World {
  readonly status?: string
  readonly finished?: number
  readonly resume?: () => Promise<object>
  readonly agentOf?: (name: string) => Agent | undefined
  readonly running?: boolean
  readonly fail?: string
}

function setup(world: World = {}) {
  const { status = 'running', finished = 1, running = false } = world
  const { resume = async () => ({ outcome: 'resumed', handle: {} }), agentOf = () => agent } = world
  const { kv, values } = createKv()
  const records = new RunRecords(kv)
  const clock = new ManualClock(NOW)
  const logger = new RecordingLogger()
  const events: (readonly unknown[])[] = []
  const err = new Error('the store is away')
  const session = {
    sessionId: 's',
    agentType: 'a',
    status,
    stepCount: 2,
    messageCount: 5,
    runId: 'r',
  }
  const guard = <T>(name: string, result: T): T => {
    if (world.fail === name) throw err
    return result
  }
  const take = createSteps((name) => void events.push([name, 'is too early']))
  /** Notes it when it is done. */
  const note = async (...event: readonly [string, ...unknown[]]): Promise<void> => {
    await take(event[0])
    events.push(event)
  }
  const stateStore = {
    loadSession: async () => guard('loadSession', status === 'gone' ? null : session),
    loadJournal: async () => [
      { result: undefined },
      ...Array.from({ length: finished }, () => ({ result: {} })),
    ],
    beginRun: (start: object) => note('beginRun', start),
    endRun: async (end: object) => {
      await note('endRun', end)
      return guard('endRun', { ...session, ...end })
    },
  }
  const streamManager = {
    resumeRun: (...given: unknown[]) => note('resumeRun', ...given),
    endRun: (...given: unknown[]) => note('endStream', ...given),
  }
  const resumeLeft = async (of: Agent, record: object) => {
    await note('resume', of.name, record)
    return resume()
  }
  const parts = {
    records,
    watchdog: { isRunning: () => running },
    executor: () => ({ resumeLeft }),
    stateStore,
    streamManager,
    agentOf,
    sync: () => note('sync', records.get('s')),
    clock,
    logger,
    maxAttempts: 3,
  }
  const recover = () => recoverRuns(parts as never)
  return { records, clock, logger, events, err, recover, values }
}

const progress = '2:5:1'
const next = (attempts: number) => ({ sessionId: 's', attempts, progress })

describe('a run that was left', () => {
  test.each([
    [{ sessionId: 's', attempts: 0 }, 1],
    [next(1), 2],
    [next(2), 3],
    [{ sessionId: 's', attempts: 3, progress: '1:5:1' }, 1],
    [{ sessionId: 's', attempts: 3, progress: '2:4:1' }, 1],
    [{ sessionId: 's', attempts: 3, progress: '2:5:0' }, 1],
  ])('%o is resumed, once its attempt %d is on disk', async (record, attempts) => {
    const { records, events, recover, logger } = setup()
    records.put(record)
    await recover()
    expect(events).toEqual([
      ['sync', next(attempts)],
      ['resume', 'a', next(attempts)],
    ])
    expect(logger.lines).toEqual([
      {
        level: 'info',
        message: 'run resumed in a new instance',
        fields: { sessionId: 's', attempts },
      },
    ])
    expect(records.get('s')).toEqual(next(attempts))
  })

  test('is let be while it runs, or before its time', async () => {
    const running = setup({ running: true })
    running.records.put(next(1))
    await running.recover()
    const early = setup()
    early.records.put({ ...next(1), retryAt: NOW + 1 })
    await early.recover()
    expect([running.events, early.events]).toEqual([[], []])
    await early.clock.advance(1)
    await early.recover()
    expect(early.events).toHaveLength(2)
  })

  test.each(['completed', 'failed', 'gone', 'idle'])(
    'whose session is %s is forgotten',
    async (status) => {
      const { records, events, recover } = setup({ status })
      records.put(next(1))
      await recover()
      expect(records.all()).toEqual([])
      expect(events.map(([name]) => name)).toEqual(status === 'gone' ? [] : ['endStream'])
    },
  )

  test('is forgotten when there is nothing to resume, and comes again when another one holds it', async () => {
    const idle = setup({ status: 'waiting', resume: async () => ({ outcome: 'not-needed' }) })
    idle.records.put(next(0))
    await idle.recover()
    expect([idle.records.all(), idle.logger.lines]).toEqual([[], []])
    const held = setup({ resume: async () => ({ outcome: 'held', leaseUntil: 5000 }) })
    held.records.put(next(1))
    await held.recover()
    expect(held.records.get('s')).toEqual({ ...next(1), retryAt: 5000 })
    const soon = setup({ resume: async () => ({ outcome: 'held', leaseUntil: undefined }) })
    soon.records.put(next(1))
    await soon.recover()
    expect(soon.records.get('s')).toEqual({ ...next(1), retryAt: 0 })
  })

  test('that makes no progress fails after its attempts, and one that waits waits on', async () => {
    const { records, events, recover } = setup()
    records.put(next(3))
    await recover()
    const error = {
      code: 'recovery-failed',
      message: 'the run was cut off and could not be resumed',
    }
    const write = { sessionId: 's', runId: expect.any(String), now: NOW }
    const last = { agentId: 'r', agentType: 'a', timestamp: NOW, type: 'error', ...error }
    expect(events).toEqual([
      ['sync', next(4)],
      ['beginRun', { ...write, leaseMs: 60_000 }],
      ['resumeRun', 's', expect.any(String), 'a'],
      ['endRun', { ...write, status: 'failed', error }],
      ['endStream', 's', expect.any(String), { ...last, agentId: expect.any(String) }],
    ])
    expect(records.all()).toEqual([])
    const waiting = setup({ status: 'waiting' })
    waiting.records.put(next(3))
    await waiting.recover()
    expect(waiting.records.all()).toEqual([])
    expect(waiting.events.map(([name]) => name)).toEqual(['sync', 'endStream'])
  })

  test('that the executor refuses fails, and says why', async () => {
    const error = new SessionError('not-resumable', 's', 'it was aborted')
    const { records, events, recover, logger } = setup({ resume: () => Promise.reject(error) })
    records.put(next(0))
    await recover()
    expect(events.map(([name]) => name)).toContain('endRun')
    expect(records.all()).toEqual([])
    expect(logger.lines).toEqual([
      { level: 'error', message: 'run cannot be resumed', fields: { err: error, sessionId: 's' } },
    ])
  })

  test.each([
    [0, 1000],
    [1, 4000],
    [2, 16_000],
  ])(
    'that fails for another reason after %d attempts comes again after %d ms',
    async (attempts, delayMs) => {
      const err = new Error('no')
      const { records, recover, logger } = setup({ resume: () => Promise.reject(err) })
      records.put(next(attempts))
      await recover()
      expect(records.get('s')).toEqual({ ...next(attempts + 1), retryAt: NOW + delayMs })
      expect(logger.lines).toEqual([
        { level: 'error', message: 'run recovery failed', fields: { err, sessionId: 's' } },
      ])
    },
  )

  test('whose session cannot even be loaded is counted, and left for the operator at last', async () => {
    const { records, recover, logger, err, clock } = setup({ fail: 'loadSession' })
    records.put(next(2))
    await recover()
    expect(records.get('s')).toEqual({ ...next(3), retryAt: NOW + 16_000 })
    await clock.advance(16_000)
    await recover()
    expect(records.all()).toEqual([])
    const fields = { sessionId: 's' }
    expect(logger.lines).toEqual([
      { level: 'error', message: 'run recovery failed', fields: { ...fields, err } },
      { level: 'error', message: 'run recovery failed', fields: { ...fields, err } },
      {
        level: 'error',
        message: 'run recovery stopped: its session cannot be written',
        fields,
      },
    ])
  })

  test('of an agent that is gone is said by its name', async () => {
    const { records, recover, logger } = setup({ agentOf: () => undefined })
    records.put(next(0))
    await recover()
    expect(logger.lines[0]?.fields).toMatchObject({
      err: expect.objectContaining({ message: 'there is no agent a any more' }),
    })
  })
})

describe('a record', () => {
  test('is due at its time, and now when that is too far ahead', () => {
    expect(dueAt(next(1), NOW)).toBe(0)
    expect(dueAt({ ...next(1), retryAt: NOW + MAX_DELAY_MS }, NOW)).toBe(NOW + MAX_DELAY_MS)
    expect(dueAt({ ...next(1), retryAt: NOW + MAX_DELAY_MS + 1 }, NOW)).toBe(NOW)
  })

  test('is kept under its own prefix; what is none is passed over', () => {
    const { kv, values } = createKv()
    const records = new RunRecords(kv)
    records.put(next(1))
    expect([...values.keys()]).toEqual(['helix:run:s'])
    values.set('other:x', next(1))
    for (const [index, value] of [null, 7, {}, { sessionId: 's' }, { attempts: 1 }].entries()) {
      values.set(`helix:run:${index}`, value)
      expect(records.get(`${index}`)).toBeUndefined()
    }
    values.set('helix:run:6', { sessionId: 7, attempts: 1 })
    values.set('helix:run:7', { sessionId: 's', attempts: '1' })
    expect(records.all()).toEqual([next(1)])
    records.remove('s')
    expect(records.all()).toEqual([])
  })

  test('that a full storage does not take is an error of the store', () => {
    const records = new RunRecords(createKv(() => true).kv)
    expect(() => records.put(next(1))).toThrow(
      expect.objectContaining({ name: 'StateStoreError', code: 'unavailable' }),
    )
  })
})

test('a run has one adapter, and the sixty-fifth takes the place of the first', async () => {
  let made = 0
  const model = new ModelPerRun(() => {
    const content = String((made += 1))
    return { generateStep: async () => ({ type: 'text', content, shouldStop: true }) }
  })
  const ask = async (agentId: string) => {
    const step = await model.generateStep({ agentId } as never)
    return step.type === 'text' ? Number(step.content) : 0
  }
  expect([await ask('0'), await ask('0')]).toEqual([1, 1])
  for (let run = 1; run < 64; run += 1) expect(await ask(`${run}`)).toBe(run + 1)
  expect(await ask('0')).toBe(1)
  expect(await ask('64')).toBe(65)
  expect(await ask('1')).toBe(2)
  expect(await ask('0')).toBe(66)
})
