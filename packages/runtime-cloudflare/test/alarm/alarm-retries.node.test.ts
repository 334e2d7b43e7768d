// When work of an alarm that failed is tried again, also by the next instance.
import { defineAgent, type Agent } from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { AlarmRetries } from '../../src/alarm/alarm-retries.ts'
import { RequestExpiry } from '../../src/alarm/request-expiry.ts'

const MINUTE_MS = 60_000

function setup() {
  const kept = new Map<string, unknown>()
  const state = { isFull: false }
  const full = new Error('the storage is full')
  const logger = new RecordingLogger()
  const kv = {
    get: (key: string) => kept.get(key) as never,
    put: (key: string, value: unknown) => {
      if (state.isFull) throw full
      kept.set(key, value)
    },
    delete: (key: string) => kept.delete(key),
  }
  return { kept, state, full, logger, retries: new AlarmRetries(kv, logger), kv }
}

test('after a minute, then each time after four times as long, up to six hours', () => {
  const { retries, kept } = setup()
  expect(retries.retryAt('x', 5)).toBe(0)
  const delays = [1, 4, 16, 64, 256, 360, 360].map((minutes) => minutes * MINUTE_MS)
  for (const [index, delayMs] of delays.entries()) {
    expect(retries.noteFailure('x', 1000)).toBe(1000 + delayMs)
    expect(retries.retryAt('x', 1000)).toBe(1000 + delayMs)
    expect(kept.get('helix:alarm:x')).toEqual({ failures: index + 1, retryAt: 1000 + delayMs })
  }
  expect(retries.retryAt('y', 1000)).toBe(0)
})

test('a time that lies too far ahead is one of a wrong clock: it is tried now', () => {
  const { retries } = setup()
  const at = retries.noteFailure('x', 1_000_000)
  expect(retries.retryAt('x', at - MINUTE_MS)).toBe(at)
  expect(retries.retryAt('x', at - MINUTE_MS - 1)).toBe(at - MINUTE_MS - 1)
})

test('a success begins anew, and writes nothing when there is nothing', () => {
  const { retries, kept, kv } = setup()
  let deletes = 0
  const remove = kv.delete
  kv.delete = (key) => ((deletes += 1), remove(key))
  retries.noteSuccess('x')
  expect(deletes).toBe(0)
  retries.noteFailure('x', 0)
  retries.noteSuccess('x')
  expect([deletes, kept.size, retries.retryAt('x', 0)]).toEqual([1, 0, 0])
  expect(retries.noteFailure('x', 0)).toBe(MINUTE_MS)
})

test('what a full storage does not take is kept as long as the instance lives', () => {
  const { retries, state, full, logger, kept, kv } = setup()
  state.isFull = true
  retries.noteFailure('x', 0)
  expect(retries.noteFailure('x', 0)).toBe(4 * MINUTE_MS)
  expect(new AlarmRetries(kv, logger).retryAt('x', 0)).toBe(0)
  expect(logger.lines[0]).toEqual({
    level: 'warn',
    message: 'failure of an alarm could not be stored',
    fields: { err: full, source: 'x' },
  })
  state.isFull = false
  retries.noteFailure('x', 0)
  expect(kept.get('helix:alarm:x')).toMatchObject({ failures: 3 })
  kept.clear()
  // It is stored by now: nothing of it is left beside the storage.
  expect(retries.retryAt('x', 0)).toBe(0)
  state.isFull = true
  retries.noteFailure('x', 0)
  retries.forget()
  expect(retries.retryAt('x', 0)).toBe(0)
})

test('what is stored and is no failure counts as none', () => {
  const { retries, kept } = setup()
  const others = [null, 'x', {}, { failures: 1 }, { retryAt: 5 }, { failures: '1', retryAt: 5 }]
  for (const value of [...others, { failures: 1, retryAt: '5' }]) {
    kept.set('helix:alarm:x', value)
    expect(retries.retryAt('x', 0)).toBe(0)
  }
})

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

/** Sessions with requests that expire, in pages of two. */
function waiting() {
  const sessions = new Map<string, { readonly status: string; readonly agentType: string }>()
  const requests: { readonly sessionId: string; readonly expiresAt?: number }[] = []
  const queries: unknown[] = []
  const stateStore = {
    loadSession: async (id: string) => sessions.get(id) ?? null,
    listRequests: async ({ cursor = '0', ...query }: { readonly cursor?: string }) => {
      queries.push(query)
      const from = Number(cursor)
      const items = requests.slice(from, from + 2)
      return from + 2 < requests.length ? { items, nextCursor: `${from + 2}` } : { items }
    },
  }
  const resumed: unknown[] = []
  const known = new Map<string, Agent>([['a', agent]])
  const expiry = new RequestExpiry({
    stateStore: stateStore as never,
    resume: async (...given) => void resumed.push(given),
    agentOf: (name) => known.get(name),
  })
  const ask = (sessionId: string, status: string, ...times: readonly (number | undefined)[]) => {
    sessions.set(sessionId, { status, agentType: 'a' })
    for (const at of times) requests.push({ sessionId, ...(at !== undefined && { expiresAt: at }) })
  }
  return { expiry, resumed, known, sessions, queries, ask }
}

test('an object is woken by the first request that expires, of sessions that wait', async () => {
  const { expiry, ask, resumed, queries } = waiting()
  expect(await expiry.nextAt()).toBeUndefined()
  expect(queries).toEqual([{ state: 'open', now: 0 }])
  ask('never', 'waiting', undefined)
  ask('over', 'completed', 500)
  expect(await expiry.nextAt()).toBeUndefined()
  ask('one', 'waiting', 3000, 2000)
  ask('two', 'waiting', 2001)
  expect(await expiry.nextAt()).toBe(2000)
  await expiry.run(1999)
  expect(resumed).toEqual([])
  await expiry.run(2000)
  expect(resumed).toEqual([[agent, 'one']])
  await expiry.run(9000)
  expect(resumed.slice(1)).toEqual([
    [agent, 'one'],
    [agent, 'two'],
  ])
})

test('an agent that is not there any more is said', async () => {
  const { expiry, ask, known } = waiting()
  ask('one', 'waiting', 5)
  known.clear()
  await expect(expiry.run(5)).rejects.toThrow('there is no agent a any more')
})
