import { once } from 'node:events'
import { defineAgent } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { type AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { enqueue, openFront, startWorker } from './processes.ts'
import { createAgent, model } from './worker-child.ts'

async function textOf(handle: AgentHandle): Promise<string> {
  const chunks: SequencedChunk[] = []
  for await (const chunk of handle.stream()) chunks.push(chunk)
  const sequences = chunks.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b))
  return chunks.map((chunk) => (chunk.type === 'text_delta' ? chunk.delta : '')).join('')
}

test('a turn runs in another process; its handle streams and waits here, turn by turn', async () => {
  const { url, executor, stores } = await openFront()
  const agent = createAgent()
  const first = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's', tags: ['t'] })
  expect(await stores.stateStore.loadSession('s')).toBeNull()
  const reads = Promise.all([textOf(first), first.result()])
  startWorker({ url, leaseMs: 60_000, dies: false })
  expect(await reads).toMatchObject(['heard one', { status: 'completed', output: 'heard one' }])
  const second = await executor.execute(agent, 'two', { ...enqueue, sessionId: 's' })
  // Not the chunks of the turn before, which are there when it is asked.
  const [text, result] = await Promise.all([textOf(second), second.result()])
  expect([text, result]).toMatchObject(['heard two', { output: 'heard two' }])
  expect(await stores.stateStore.loadSession('s')).toMatchObject({ tags: ['t'] })
  // A handle of a turn that is over reads what its session has.
  expect(await textOf(second)).toBe('heard two')
})

test('the handle outlives the worker: another one ends the turn', async () => {
  const { url, executor } = await openFront()
  const handle = await executor.execute(createAgent(), 'one', { ...enqueue, sessionId: 's' })
  const stream = handle.stream()[Symbol.asyncIterator]()
  const leaseMs = 1000
  const [, signal] = await once(startWorker({ url, leaseMs, dies: true }), 'exit')
  expect(signal).toBe('SIGKILL')
  startWorker({ url, leaseMs, dies: false })
  let text = ''
  while (text !== 'heard one') {
    const { value, done } = await stream.next()
    if (done === true) break
    if (value.type === 'text_delta') text += value.delta
  }
  expect(text).toBe('heard one')
  await stream.return?.()
})

test('what cannot be enqueued is a typed error, and nothing is stored', async () => {
  const { executor, queue, stores } = await openFront()
  const agent = createAgent()
  const alone = new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), model)
  await expect(alone.execute(agent, 'x', enqueue)).rejects.toMatchObject({
    name: 'SessionError',
    code: 'no-queue',
    hint: expect.stringContaining('turnQueue') as unknown,
  })
  const message = ['a', 'b'].map((content) => ({ role: 'user', content }) as const)
  const twice = executor.execute(agent, { message }, enqueue)
  await expect(twice).rejects.toMatchObject({ code: 'invalid-message' })
  const session = { customState: undefined, agentType: 'other', now: 1 }
  await stores.stateStore.createSession({ ...session, sessionId: 's' })
  const foreign = executor.execute(agent, 'x', { ...enqueue, sessionId: 's' })
  await expect(foreign).rejects.toMatchObject({ code: 'other-agent' })
  await stores.stateStore.createSession({ ...session, agentType: 'echo', sessionId: 't' })
  const input = { message: 'x', state: {} }
  const late = executor.execute(agent, input, { ...enqueue, sessionId: 't' })
  await expect(late).rejects.toMatchObject({ code: 'invalid-message' })
  const bad = executor.execute(agent, 'x', { ...enqueue, turnId: 'none' })
  await expect(bad).rejects.toMatchObject({ name: 'QueueError', code: 'invalid-turn' })
  await expect(executor.execute(agent, 'x', { ...enqueue, sessionId: '' })).rejects.toThrow(
    RangeError,
  )
  expect(await queue.stats()).toMatchObject({ ready: 0, delayed: 0 })
})

test('the same turn again is stored once; one that a worker rejects fails in its handle', async () => {
  const { url, executor, queue, stores } = await openFront()
  const turn = { ...enqueue, sessionId: 's', turnId: crypto.randomUUID() }
  const agent = createAgent()
  await executor.execute(agent, 'one', turn)
  const handle = await executor.execute(agent, 'one', turn)
  expect(await queue.stats()).toMatchObject({ ready: 1 })
  // Made by another agent after the check, as a race would.
  const other = defineAgent({ name: 'other', llmConfig: { model: {} } })
  const session = { sessionId: 's', agentType: other.name, customState: undefined, now: 1 }
  await stores.stateStore.createSession(session)
  const failed = { name: 'SessionError', code: 'turn-rejected' }
  const results = Promise.allSettled([handle.result(), textOf(handle)])
  startWorker({ url, leaseMs: 60_000, dies: false })
  expect(await results).toMatchObject([
    { status: 'rejected', reason: failed },
    { status: 'rejected', reason: failed },
  ])
})
