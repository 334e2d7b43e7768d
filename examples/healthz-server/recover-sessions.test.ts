import { type Logger, noopLogger, StateStoreError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createHarness } from './harness.ts'
import { keepRecovering } from './keep-recovering.ts'
import { recoverSessions } from './recover-sessions.ts'

const LEASE_MS = 1000

/** A session whose process died after it had stored what the user said. */
async function abandoned(
  sessionId: string,
  clock: ManualClock,
  harness = createHarness({ executor: { clock } }),
) {
  const { stateStore, parts } = harness
  const write = { sessionId, runId: `run-of-${sessionId}`, now: clock.now() }
  const { name: agentType } = parts.agent
  await stateStore.createSession({ sessionId, agentType, customState: undefined, now: clock.now() })
  await stateStore.beginRun({ ...write, leaseMs: LEASE_MS })
  await stateStore.appendMessages({ ...write, messages: [{ role: 'user', content: 'hello' }] })
  return harness
}

test('a session is left alone until the lease of its process expired, and is then resumed', async () => {
  const clock = new ManualClock()
  const { parts, ended } = await abandoned('a', clock)
  expect(await recoverSessions(parts)).toEqual({ resumed: [], waiting: ['a'], failed: [] })
  await clock.advance(LEASE_MS + 1)
  expect(await recoverSessions(parts)).toEqual({ resumed: ['a'], waiting: [], failed: [] })
  expect(await ended('a')).toBe('completed')
  expect(await recoverSessions(parts)).toEqual({ resumed: [], waiting: [], failed: [] })
})

test('every page of sessions is looked at, but what was paused on purpose is left', async () => {
  const clock = new ManualClock()
  const harness = await abandoned('s-0', clock)
  const { stateStore, parts, ended } = harness
  const ids = Array.from({ length: 450 }, (_, i) => `s-${i}`)
  for (const id of ids.slice(1)) await abandoned(id, clock, harness)
  const paused = { sessionId: 's-7', runId: 'run-of-s-7', now: clock.now() }
  await stateStore.endRun({ ...paused, status: 'interrupted' })
  const shutDown = { sessionId: 's-8', runId: 'run-of-s-8', now: clock.now() }
  const error = { code: 'shutdown', message: 'the process was shut down' }
  await stateStore.endRun({ ...shutDown, status: 'interrupted', error })
  await clock.advance(LEASE_MS + 1)
  const { resumed, waiting, failed } = await recoverSessions(parts)
  expect([waiting, failed]).toEqual([[], []])
  expect(new Set(resumed)).toEqual(new Set(ids.filter((id) => id !== 's-7')))
  for (const id of resumed) expect(await ended(id)).toBe('completed')
})

test('one that cannot go on does not keep the others', async () => {
  const clock = new ManualClock()
  const harness = await abandoned('a', clock)
  const { stateStore, parts } = harness
  await abandoned('b', clock, harness)
  await clock.advance(LEASE_MS + 1)
  const beginRun = stateStore.beginRun.bind(stateStore)
  stateStore.beginRun = (start) =>
    start.sessionId === 'b' ? Promise.reject(new Error('disk')) : beginRun(start)
  const errors: string[] = []
  const logger: Logger = { ...noopLogger, error: (_, message) => void errors.push(message) }
  const recovery = await recoverSessions({ ...parts, logger })
  expect(recovery).toEqual({ resumed: ['a'], waiting: [], failed: ['b'] })
  expect(errors).toEqual(['session could not be resumed'])
  await harness.ended('a')
})

test('one whose store is busy is tried again', async () => {
  const clock = new ManualClock()
  const { stateStore, parts, ended } = await abandoned('a', clock)
  await clock.advance(LEASE_MS + 1)
  const beginRun = stateStore.beginRun.bind(stateStore)
  const busy = new StateStoreError('unavailable', 'a', 'the database is locked')
  stateStore.beginRun = () => Promise.reject(busy)
  expect(await recoverSessions(parts)).toEqual({ resumed: [], waiting: ['a'], failed: [] })
  stateStore.beginRun = beginRun
  expect(await recoverSessions(parts)).toEqual({ resumed: ['a'], waiting: [], failed: [] })
  expect(await ended('a')).toBe('completed')
})

test('a store that does not answer once is asked again', async () => {
  const clock = new ManualClock()
  const { stateStore, parts, ended } = await abandoned('a', clock)
  await clock.advance(LEASE_MS + 1)
  const listSessions = stateStore.listSessions.bind(stateStore)
  stateStore.listSessions = () => {
    stateStore.listSessions = listSessions
    return Promise.reject(new StateStoreError('unavailable', '', 'the database is locked'))
  }
  const isResumed = Promise.withResolvers<void>()
  const logger: Logger = { ...noopLogger, info: () => isResumed.resolve() }
  const stop = await keepRecovering({ ...parts, logger }, 1)
  await isResumed.promise
  expect(await ended('a')).toBe('completed')
  stop()
})
