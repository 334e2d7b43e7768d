// Whether a session can be resumed, and why not.
import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createHarness, gate, say, settle } from '../harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
const failing = () => Promise.reject(new Error('no'))

test('an unknown session has no state', async () => {
  const { executor } = createHarness([])
  expect(await executor.canResume(agent, 's')).toEqual({
    canResume: false,
    reason: 'there is no such session',
  })
})

test('one that runs is told by that, here and for another process until its lease is over', async () => {
  const [clock, hold] = [new ManualClock(0), gate()]
  const step = () => hold.opened.then(() => say('one', false))
  const here = createHarness([step, failing], { clock, leaseMs: 100 })
  const handle = await here.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  const there = here.next([])
  const reasons = async () => {
    const checks = [here, there].map(({ executor }) => executor.canResume(agent, 's'))
    return (await Promise.all(checks)).map(({ reason }) => reason)
  }
  expect(await reasons()).toEqual(['it is running', 'another process holds it'])
  expect((await there.executor.canResume(other, 's')).reason).toBe('it belongs to agent a')
  // A renewal that does not come: here it runs on, elsewhere it may be taken over.
  here.store.renewRun = () => Promise.reject(new Error('away'))
  await clock.advance(99)
  expect((await reasons())[1]).toBe('another process holds it')
  await clock.advance(1)
  expect(await reasons()).toEqual(['it is running', undefined])
  hold.open()
  await handle.result()
})

test('one that failed can be resumed: it comes with its state', async () => {
  // Before any time: no lease is one that is over.
  const clock = new ManualClock(0)
  const { executor, store } = createHarness([failing, say('done')], { clock })
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const state = await store.loadSession('s')
  expect(await executor.canResume(agent, 's')).toEqual({ canResume: true, state })
  await (await executor.resume(agent, 's')).result()
  expect(await executor.canResume(agent, 's')).toMatchObject({
    canResume: false,
    reason: 'it is completed',
    state: { status: 'completed' },
  })
})
