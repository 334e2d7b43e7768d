// A process is asked to end while a request starts a run: the run is not forgotten, or nobody
// could go on with its session until the lease has run out.
import { defineAgent, type StepInput } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, gate, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'agent', llmConfig: { model: {} } })

test('a shutdown waits for a run that is starting, and interrupts it', async () => {
  const store = new InMemoryStateStore()
  const hold = gate()
  const beginRun = store.beginRun.bind(store)
  store.beginRun = async (start) => {
    const session = await beginRun(start)
    await hold.opened
    return session
  }
  const harness = createHarness([() => settle().then(() => say('one step', false))], { store })
  const starting = harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  let isDown = false
  const shutdown = harness.executor.shutdown().then(() => (isDown = true))
  await settle()
  expect(isDown).toBe(false)
  hold.open()
  await shutdown
  expect(await store.loadSession('s')).toMatchObject({ status: 'interrupted' })
  expect((await (await starting).result()).status).toBe('interrupted')

  const resumed = await harness.next([say('done')]).executor.resume(agent, 's')
  expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'done' })
})

test('a shutdown does not wait for ever for a run that cannot start', async () => {
  const store = new InMemoryStateStore()
  store.beginRun = () => new Promise(() => {})
  const clock = new ManualClock()
  const harness = createHarness([], { store, clock })
  void harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  const shutdown = harness.executor.shutdown({ timeoutMs: 1000, graceMs: 500 })
  await clock.advance(1500)
  await expect(shutdown).resolves.toBeUndefined()
})

test('a shutdown gives the steps under way 6 s, and what it stops then 3 s more', async () => {
  const clock = new ManualClock()
  const signals: AbortSignal[] = []
  const deaf = ({ abortSignal }: StepInput) => {
    signals.push(abortSignal)
    return new Promise<never>(() => {})
  }
  const store = new InMemoryStateStore()
  store.endRun = () => new Promise(() => {})
  const harness = createHarness([deaf], { store, clock })
  await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  let isDown = false
  const shutdown = harness.executor.shutdown().then(() => (isDown = true))
  await clock.advance(5_999)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  await clock.advance(1)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  await clock.advance(2_999)
  expect(isDown).toBe(false)
  await clock.advance(1)
  await shutdown
  expect(isDown).toBe(true)
})

/** A store that begins no run but those of one session. */
function beginsOnly(sessionId: string) {
  const [store, hold] = [new InMemoryStateStore(), gate()]
  const beginRun = store.beginRun.bind(store)
  store.beginRun = async (start) => {
    if (start.sessionId !== sessionId) await hold.opened
    return beginRun(start)
  }
  return { store, hold }
}

test('a run under way is interrupted at once, not when all others have started', async () => {
  const { store, hold } = beginsOnly('s')
  const answer = gate()
  const first = () => answer.opened.then(() => say('one step', false))
  const harness = createHarness([first, say('too late')], { store })
  const { executor } = harness
  const handle = await executor.execute(agent, 'Go', { sessionId: 's' })
  const starting = executor.execute(agent, 'Go', { sessionId: 'slow' })
  await settle()
  const shutdown = executor.shutdown()
  answer.open()
  expect(await handle.result()).toMatchObject({ status: 'interrupted', stepCount: 1 })
  hold.open()
  await Promise.all([starting, shutdown])
})

test('a shutdown waits for a session that goes back', async () => {
  const harness = createHarness([say('done')])
  const { executor, store } = harness
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const [checkpoint] = (await store.listCheckpoints('s')).items
  const [reached, hold] = [gate(), gate()]
  const restoreCheckpoint = store.restoreCheckpoint.bind(store)
  store.restoreCheckpoint = async (...given) => {
    reached.open()
    await hold.opened
    return restoreCheckpoint(...given)
  }
  const restoring = executor.restoreCheckpoint(agent, 's', checkpoint!.id)
  await reached.opened
  let isDown = false
  const shutdown = executor.shutdown().then(() => (isDown = true))
  await settle()
  expect(isDown).toBe(false)
  hold.open()
  await Promise.all([restoring, shutdown])
})
