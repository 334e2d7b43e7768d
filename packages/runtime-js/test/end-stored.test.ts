// A store that is away for a moment when a run ends.
import { defineAgent, StateStoreError } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createHarness, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const away = () => new StateStoreError('unavailable', 's', 'try later')
type EndRun = SessionStateStore['endRun']

/** A run whose end meets these answers of the store, one after the other, and then a sound store. */
async function endWith(...answers: readonly ((end: EndRun) => EndRun)[]) {
  const clock = new ManualClock()
  const harness = createHarness([say('done')], { clock, leaseMs: 60_000 })
  const sound = harness.store.endRun.bind(harness.store)
  let asked = 0
  harness.store.endRun = (end) => (answers[asked++]?.(sound) ?? sound)(end)
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  for (const ms of [100, 400, 1_500]) {
    await clock.advance(ms)
    await settle()
  }
  const result = await handle.result()
  return { result, asked, session: await harness.store.loadSession('s'), harness }
}

const fails = (): EndRun => () => Promise.reject(away())
const isTaken = (): EndRun => () =>
  Promise.reject(new StateStoreError('conflict', 's', 'this run does not hold it any more'))
const isDamaged = (): EndRun => () =>
  Promise.reject(new StateStoreError('corrupt', 's', 'its row is damaged'))
const losesTheAnswer =
  (sound: EndRun): EndRun =>
  async (end) => {
    await sound(end)
    throw away()
  }

test('the end is stored when the store is back', async () => {
  const { result, asked, session, harness } = await endWith(fails, fails)
  expect([result.status, asked]).toEqual(['completed', 3])
  expect(session).toMatchObject({ status: 'completed', output: 'done' })
  expect(session).not.toHaveProperty('leaseUntil')
  expect(harness.logger.with('end of run not stored yet')).toHaveLength(2)
})

test('an end that has arrived although its answer was lost is the end', async () => {
  const { result, asked, session } = await endWith(losesTheAnswer)
  expect([result.status, asked]).toEqual(['completed', 2])
  expect(session).toMatchObject({ status: 'completed', output: 'done' })
})

test('a store that stays away leaves the session to the next process, as it was decided', async () => {
  const { result, asked, session, harness } = await endWith(fails, fails, fails, fails)
  expect(result).toMatchObject({ status: 'failed', error: { code: 'unavailable' } })
  expect([asked, session?.status, session?.outcome]).toEqual([
    4,
    'running',
    { status: 'completed', output: 'done' },
  ])
  const clock = new ManualClock(session!.leaseUntil)
  const next = harness.next([], { clock })
  const recovery = await next.executor.recover(agent, 's')
  expect(recovery.outcome).toBe('resumed')
})

test('what is no matter of time is not tried again', async () => {
  const { result, asked } = await endWith(isDamaged)
  expect(result).toMatchObject({ status: 'failed', error: { code: 'corrupt' } })
  expect(asked).toBe(1)
})

test('a session that another run has taken meanwhile is left to it', async () => {
  const { result, asked, session } = await endWith(fails, isTaken)
  expect(result).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  expect([asked, session?.status]).toEqual([2, 'running'])
})
