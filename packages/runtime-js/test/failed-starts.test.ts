// How a session stands after a run of it that could not start, and what a start makes others wait for.
import { defineAgent } from '@helix-agents/core'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import { createHarness, gate, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

function withoutStreams(): InMemoryStreamManager {
  const streams = new InMemoryStreamManager()
  streams.startRun = () => Promise.reject(new Error('no stream'))
  return streams
}

describe('after a run that could not start', () => {
  test('a new session has failed: there is nothing to go on with', async () => {
    const { executor, store } = createHarness([], { streams: withoutStreams() })
    await expect(executor.execute(agent, 'x', { sessionId: 's' })).rejects.toThrow('no stream')
    expect(await store.loadSession('s')).toMatchObject({ status: 'failed', messageCount: 0 })
  })

  test('a session whose process died before stays interrupted', async () => {
    const store = new InMemoryStateStore()
    await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
    await store.beginRun({ sessionId: 's', runId: 'dead', leaseMs: 1, now: 0 })
    const { executor } = createHarness([], { store, streams: withoutStreams() })
    await expect(executor.execute(agent, 'x', { sessionId: 's' })).rejects.toThrow('no stream')
    expect(await store.loadSession('s')).toMatchObject({ status: 'interrupted' })
  })

  test('a session with messages is interrupted, and its next turn starts', async () => {
    const first = createHarness([say('one')])
    await (await first.executor.execute(agent, 'x', { sessionId: 's' })).result()
    const { executor } = createHarness([], { store: first.store, streams: withoutStreams() })
    await expect(executor.execute(agent, 'y', { sessionId: 's' })).rejects.toThrow('no stream')
    expect(await first.store.loadSession('s')).toMatchObject({ status: 'interrupted' })
    const turn = await first.next([say('two')]).executor.execute(agent, 'y', { sessionId: 's' })
    expect((await turn.result()).output).toBe('two')
  })
})

const oneStep = () => settle().then(() => say('one step', false))

/** A run whose claim is under way. */
async function starting() {
  const store = new InMemoryStateStore()
  const hold = gate()
  const beginRun = store.beginRun.bind(store)
  let isHeld = true
  store.beginRun = async (start) => {
    const session = await beginRun(start)
    if (isHeld) await hold.opened
    isHeld = false
    return session
  }
  const harness = createHarness([oneStep, say('done')], { store })
  const { executor } = harness
  const started = executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  return { harness, store, executor, started, hold }
}

describe('while a run starts', () => {
  test('an interrupt waits for it, and pauses it', async () => {
    const { executor, started, hold } = await starting()
    const handle = await executor.getHandle(agent, 's')
    const interrupted = handle!.interrupt()
    await settle()
    hold.open()
    await interrupted
    expect((await (await started).result()).status).toBe('interrupted')
  })

  test('a removal that may abort waits for it, and aborts it', async () => {
    const { executor, started, hold, store } = await starting()
    // With a turn of the event loop first: waiting must not keep others from going on.
    setImmediate(() => hold.open())
    await executor.deleteSession(agent, 's', { abortRun: true })
    expect((await (await started).result()).status).toBe('aborted')
    expect(await store.loadSession('s')).toBeNull()
  })
})
