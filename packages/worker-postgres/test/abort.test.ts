import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { type Cluster, createCluster, hold, model, statusOf } from './harness.ts'

const enqueue = { mode: 'enqueue' } as const

/** An executor as of a process that runs no turn. */
function front({ store, queue }: Cluster): JSAgentExecutor {
  return new JSAgentExecutor(store, new InMemoryStreamManager(), model, { turnQueue: queue })
}

async function chunksOf(stream: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const chunks: unknown[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

test('an aborted turn that has not begun never runs; its readers see it end', async () => {
  await using cluster = await createCluster()
  const { agent, queue } = cluster
  const executor = front(cluster)
  const handle = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  const reads = Promise.all([handle.result(), chunksOf(handle.stream())])
  await handle.abort()
  const ended = {
    status: 'aborted',
    sessionId: 's',
    stepCount: 0,
    runId: expect.any(String) as unknown,
  }
  expect(await reads).toMatchObject([ended, []])
  expect(await queue.stats()).toMatchObject({ ready: 0, delayed: 0, active: 0 })
  const next = await executor.execute(agent, 'two', { ...enqueue, sessionId: 's' })
  await cluster.worker()
  expect(await next.result()).toMatchObject({ status: 'completed' })
  expect(cluster.effects).toEqual(['two'])
})

test('abort of one turn leaves the turn before it; abort of the session ends both', async () => {
  await using cluster = await createCluster()
  const { agent } = cluster
  const executor = front(cluster)
  const gate = hold(cluster, 'one')
  await cluster.worker()
  const first = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  await expect.poll(() => cluster.effects).toEqual(['one'])
  const second = await executor.execute(agent, 'two', { ...enqueue, sessionId: 's' })
  await second.abort()
  expect(await second.result()).toMatchObject({ status: 'aborted' })
  expect(await statusOf(cluster, 's')).toBe('running')
  const third = await executor.execute(agent, 'three', { ...enqueue, sessionId: 's' })
  // As of another process, which knows the session alone.
  const handle = await front(cluster).getHandle(agent, 's')
  await handle?.abort()
  // The tool is under way until the worker learns of it.
  await expect.poll(() => statusOf(cluster, 's')).toBe('aborted')
  gate.open()
  expect(await third.result()).toMatchObject({ status: 'aborted' })
  expect(await first.result()).toMatchObject({ status: 'aborted' })
  expect(cluster.effects).toEqual(['one'])
})

test('an abort waits for a claimed turn to begin, and stops it', async () => {
  await using cluster = await createCluster()
  const { agent, queue, store } = cluster
  const executor = front(cluster)
  const handle = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  const claimed = Promise.withResolvers<void>()
  const begin = Promise.withResolvers<void>()
  const load = store.loadSession.bind(store)
  let looks = 0
  store.loadSession = async (sessionId) => {
    // The first look of the abort finds the turn claimed and its session not made.
    if (++looks === 1) begin.resolve()
    return load(sessionId)
  }
  const gate = hold(cluster, 'one')
  const stop = queue.consume({
    concurrency: 1,
    turnsPerTenant: 1,
    pollMs: 1000,
    logger: cluster.logger,
    clock: { now: Date.now, sleep: async () => {}, setTimer: () => () => {} },
    run: async (turnId) => {
      claimed.resolve()
      await begin.promise
      const sending = { messageId: turnId, delivery: 'followUp', create: {} } as const
      const worker = new JSAgentExecutor(store, new InMemoryStreamManager(), model)
      const sent = await worker.send(agent, 's', 'one', sending)
      return { outcome: (await sent.handle?.result())?.status }
    },
  })
  await claimed.promise
  await handle.abort()
  await expect.poll(() => statusOf(cluster, 's')).toBe('aborted')
  gate.open()
  expect(await handle.result()).toMatchObject({ status: 'aborted' })
  await stop()
})

test('deletion of a session cancels its turns', async () => {
  await using cluster = await createCluster()
  const { agent, store } = cluster
  const executor = front(cluster)
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 1 })
  const handle = await executor.execute(agent, 'one', { ...enqueue, sessionId: 's' })
  await executor.deleteSession(agent, 's')
  expect(await handle.result()).toMatchObject({ status: 'aborted' })
  await cluster.worker()
  expect(await statusOf(cluster, 's')).toBeUndefined()
})
