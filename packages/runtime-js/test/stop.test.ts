import type { InMemoryStateStore } from '@helix-agents/store-memory'
import { defineAgent, defineTool, SessionError, type StepInput } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, chunksOf, createHarness, gate, say, settle, typesOf } from './harness.ts'

const tick = defineTool({
  name: 'tick',
  description: '',
  inputSchema: z.object({}),
  execute: () => 'tock',
})
const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [tick], maxSteps: 3 })

/** A tool that waits for its gate, or for its signal. */
function waiting(readOnly = false) {
  const hold = gate()
  const started = gate()
  const tool = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly },
    execute: (_, { abortSignal }) => {
      started.open()
      return new Promise((resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
        void hold.opened.then(() => resolve('waited'))
      })
    },
  })
  return { tool, hold, started }
}

function agentThatWaits() {
  const wait = waiting()
  return {
    ...wait,
    agent: defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [wait.tool] }),
  }
}

describe('bounds of the loop', () => {
  test('maxSteps', async () => {
    const harness = createHarness([calls(['tick']), calls(['tick']), calls(['tick']), say('never')])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    const result = await handle.result()
    expect(result).toMatchObject({ status: 'failed', error: { code: 'max-steps' }, stepCount: 3 })
    expect((await chunksOf(handle)).at(-1)).toMatchObject({ type: 'error', code: 'max-steps' })
    expect(await harness.store.loadSession('s')).toMatchObject({
      status: 'failed',
      error: { code: 'max-steps' },
    })
    // A resumed run has steps of its own.
    const more = harness.next([say('late')])
    const resumed = await more.executor.resume(agent, 's')
    expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'late' })
  })

  test('maxDurationMs reaches a model that does not listen', async () => {
    const clock = new ManualClock()
    const harness = createHarness([() => new Promise(() => {})], { clock })
    const bounded = defineAgent({ name: 'a', llmConfig: { model: {} }, maxDurationMs: 500 })
    const handle = await harness.executor.execute(bounded, 'x')
    await settle()
    await clock.advance(500)
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: 'max-duration' },
    })
    expect(clock.pendingTimers).toBe(0)
  })

  test('a model that fails ends the run, its text stays with the operator', async () => {
    const error = new Error('401: bad key sk-123')
    const harness = createHarness([() => Promise.reject(error)])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    const result = await handle.result()
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'model-failed', cause: error },
    })
    const shown = JSON.stringify([await chunksOf(handle), await harness.store.loadSession('s')])
    expect(shown).not.toContain('sk-123')
    const retry = await harness.next([say('ok')]).executor.resume(agent, 's')
    expect((await retry.result()).status).toBe('completed')
  })

  test('an adapter may report an error as a step, final or not', async () => {
    const error = { type: 'error', error: new Error('busy') } as const
    const harness = createHarness([
      { ...error, shouldStop: false },
      { ...error, shouldStop: true },
    ])
    const handle = await harness.executor.execute(agent, 'x')
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: 'model-failed' },
      stepCount: 1,
    })
  })
})

describe('interrupt', () => {
  test('of a run that is over says so; one of another process is asked through the store', async () => {
    const { agent: waiter, hold, started } = agentThatWaits()
    const harness = createHarness([calls(['wait']), say('done')])
    const handle = await harness.executor.execute(waiter, 'x', { sessionId: 's' })
    await started.opened
    const { store } = harness
    await (await harness.next([]).executor.getHandle(waiter, 's'))?.interrupt()
    expect(await (store as InMemoryStateStore).loadSignals('s')).toMatchObject({
      stop: 'interrupt',
    })
    hold.open()
    await handle.result()
    await expect(handle.interrupt()).rejects.toMatchObject({
      name: 'SessionError',
      code: 'not-running',
    })
  })

  test('lets the step under way finish and leaves the session resumable', async () => {
    const { agent: waiter, hold, started } = agentThatWaits()
    const harness = createHarness([calls(['wait']), say('done')])
    const handle = await harness.executor.execute(waiter, 'x', { sessionId: 's' })
    await started.opened
    await handle.interrupt()
    hold.open()
    expect(await handle.result()).toMatchObject({ status: 'interrupted', stepCount: 1 })
    expect(await harness.executor.canResume(waiter, 's')).toMatchObject({ canResume: true })
    const resumed = await handle.resume({ message: 'Go on' })
    expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'done' })
    const { messages } = await harness.store.loadMessages('s')
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ])
    // One stream for both runs: nothing was reset.
    expect(await typesOf(resumed)).toEqual(['tool_start', 'tool_end', 'text_delta', 'output'])
  })
})

describe('abort', () => {
  test('reaches the model call', async () => {
    let signal: AbortSignal | undefined
    const harness = createHarness([
      (input: StepInput) => {
        signal = input.abortSignal
        return new Promise(() => {})
      },
    ])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    await handle.abort()
    expect(await handle.result()).toMatchObject({ status: 'aborted' })
    expect(signal?.aborted).toBe(true)
    await expect(handle.resume()).rejects.toMatchObject({ code: 'not-resumable' })
    expect(await harness.executor.canResume(agent, 's')).toMatchObject({ canResume: false })
    // A person who stopped the agent may still speak to it.
    const next = await harness
      .next([say('hello')])
      .executor.execute(agent, 'hi', { sessionId: 's' })
    expect((await next.result()).status).toBe('completed')
  })

  test('reaches the tools, and the step still gets its results', async () => {
    const { agent: waiter, started } = agentThatWaits()
    const harness = createHarness([calls(['wait'], ['wait']), say('never')])
    const handle = await harness.executor.execute(waiter, 'x', { sessionId: 's' })
    await started.opened
    await handle.abort()
    expect((await handle.result()).status).toBe('aborted')
    const { messages } = await harness.store.loadMessages('s')
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
    expect(JSON.stringify(messages.at(-1))).toContain('aborted')
  })

  test('comes from the signal of the caller too', async () => {
    const abort = new AbortController()
    const { agent: waiter, started } = agentThatWaits()
    const harness = createHarness([calls(['wait']), say('never')])
    const handle = await harness.executor.execute(waiter, 'x', { signal: abort.signal })
    await started.opened
    abort.abort()
    expect((await handle.result()).status).toBe('aborted')
    const late = await harness
      .next([say('no')])
      .executor.execute(agent, 'x', { signal: abort.signal })
    expect((await late.result()).status).toBe('aborted')
  })

  test('ends a session that is paused', async () => {
    const { agent: waiter, hold, started } = agentThatWaits()
    const harness = createHarness([calls(['wait']), say('done')])
    const handle = await harness.executor.execute(waiter, 'x', { sessionId: 's' })
    await started.opened
    await handle.interrupt()
    hold.open()
    await handle.result()
    await handle.abort()
    expect(await harness.store.loadSession('s')).toMatchObject({ status: 'aborted' })
    await expect(handle.resume()).rejects.toThrow(SessionError)
  })
})

describe('shutdown', () => {
  test('interrupts every run and waits', async () => {
    const { agent: waiter, hold, started } = agentThatWaits()
    const harness = createHarness([calls(['wait']), say('done')])
    const handle = await harness.executor.execute(waiter, 'x', { sessionId: 's' })
    await started.opened
    const down = harness.executor.shutdown()
    hold.open()
    await down
    expect((await handle.result()).status).toBe('interrupted')
  })

  test('stops what does not end in time, and leaves it resumable', async () => {
    const clock = new ManualClock()
    const harness = createHarness([() => new Promise(() => {})], { clock })
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    const down = harness.executor.shutdown({ timeoutMs: 100 })
    await clock.advance(100)
    await down
    expect((await handle.result()).status).toBe('interrupted')
    const resumed = await harness.next([say('ok')]).executor.resume(agent, 's')
    expect((await resumed.result()).status).toBe('completed')
  })
})
