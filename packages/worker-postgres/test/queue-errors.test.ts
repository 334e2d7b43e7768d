import { createTestDatabase, startTestPostgres } from '@helix-agents/postgres-testbed'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { createWorker, openTurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createCluster, model, statusOf } from './harness.ts'

test('an address where none listens is a typed error', async () => {
  const connectionString = 'postgresql://postgres@127.0.0.1:1/x'
  const opened = openTurnQueue({ connectionString })
  await expect(opened).rejects.toMatchObject({ code: 'unavailable' })
})

test('an unknown database and a user without rights are typed errors that name neither', async () => {
  await using database = await createTestDatabase()
  const missing = new URL(database.url)
  missing.pathname = '/no_such_database'
  await expect(openTurnQueue({ connectionString: missing.href })).rejects.toMatchObject({
    code: 'database-missing',
    message: expect.not.stringContaining('no_such_database') as unknown,
  })
  const role = `r${crypto.randomUUID().replaceAll('-', '')}`
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(`CREATE ROLE ${role} LOGIN`)
  const poor = new URL(database.url)
  poor.username = role
  await expect(openTurnQueue({ connectionString: poor.href })).rejects.toMatchObject({
    code: 'access-denied',
  })
  await client.query(`DROP ROLE ${role}`)
  await client.end()
})

test('what cannot be stored is rejected, and nothing is stored', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const bad = [
    queue.enqueue(agent, 'x', { sessionId: '' }),
    queue.enqueue(agent, 'x', { tenant: 'a\0b' }),
    queue.enqueue(agent, 'x', { tenant: 'x'.repeat(1_000_000) }),
    queue.enqueue(agent, 'x', { turnId: "'; DROP TABLE x" }),
    queue.enqueue(agent, 'x', { priority: 0.5 }),
    queue.enqueue(agent, 'x', { priority: 2 ** 31 }),
    queue.enqueue(agent, 'x', { startAfter: new Date(Number.NaN) }),
    queue.enqueue(agent, 'x', { startAfter: 5 as never }),
    queue.enqueue(agent, 'x', { sessionId: '\uD800' }),
    queue.enqueue(agent, 'x', { tenant: 'a\uDC00' }),
    queue.enqueue(agent, 5 as never),
    // A worker could only reject these, when nobody waits for an answer any more.
    queue.enqueue(agent, 'x', { userId: 5 as never }),
    queue.enqueue(agent, 'x', { tags: 'tag' as never }),
    queue.enqueue(agent, 'x', {
      metadata: JSON.parse('{"a":'.repeat(5000) + '1' + '}'.repeat(5000)),
    }),
    queue.enqueue(agent, 'x', { state: JSON.parse('{"a":'.repeat(5000) + '1' + '}'.repeat(5000)) }),
    ...[undefined, null, 5, {}, { name: '' }].map((none) => queue.enqueue(none as never, 'x')),
  ]
  const results = await Promise.allSettled(bad)
  const rejected = { status: 'rejected', reason: { code: 'invalid-turn' } }
  expect(results).toMatchObject(bad.map(() => rejected))
  expect(await queue.stats()).toMatchObject({ ready: 0, delayed: 0 })
})

const nowhere = 'postgresql://nobody@127.0.0.1:1/none'

test.each<object>([
  { connectionString: nowhere, schema: 'a b' },
  ...[undefined, '', 5, 'nonsense://', 'localhost', '/tmp', 'http://localhost/helix'].map(
    (connectionString) => ({ connectionString }),
  ),
])('a queue is not opened with %j', async (options) => {
  const opened = openTurnQueue(options as never)
  await expect(opened).rejects.toMatchObject({ name: 'QueueError', code: 'invalid-option' })
})

test('a worker with parts or options that it cannot use is not made', async () => {
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model)
  const good = { queue, stateStore: store, agents: [agent] }
  const make = (bad: object, first: unknown = executor) =>
    createWorker(first as never, { ...good, ...bad })
  for (const none of [null, 5, 'x', {}]) {
    expect(() => make({}, none)).toThrow('the first argument must be an executor')
    expect(() => make({ queue: none })).toThrow('queue must be what openTurnQueue returned')
    expect(() => make({ stateStore: none })).toThrow('stateStore must be the store')
    expect(() => make({ agents: none })).toThrow('agents must be a list of agents')
    expect(() => make({ agents: [agent, none] })).toThrow('agents must be a list of agents')
    expect(() => make({ pollMs: none === 5 ? 0.5 : none })).toThrow(/pollMs/)
  }
  expect(() => make({ concurrency: 0 })).toThrow(/concurrency/)
  for (const name of ['', 'a\0', '\uD800', 5])
    expect(() => make({ machine: name })).toThrow(/machine/)
  expect(() => make({ affinityKinds: 'local-bash' })).toThrow(/affinityKinds/)
  expect(make({ concurrency: undefined, machine: undefined }).health().concurrency).toBe(4)
})

test('a message holds what a text holds: NUL, halves of surrogate pairs, escapes', async () => {
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const odd = ['a\0b', 'half \uD83D', '\uDE00 half', String.raw`\u0000 \\ud800`]
  for (const [index, text] of odd.entries()) {
    await queue.enqueue(agent, text, { sessionId: `s${index}`, metadata: { text }, tags: [text] })
  }
  await cluster.worker()
  for (const [index, text] of odd.entries()) {
    await expect.poll(() => statusOf(cluster, `s${index}`)).toBe('completed')
    const session = await store.loadSession(`s${index}`)
    expect(session).toMatchObject({ metadata: { text }, tags: [text] })
    const { messages } = await store.loadMessages(`s${index}`)
    expect(messages[0]).toMatchObject({ role: 'user', content: text })
  }
  expect(cluster.effects.toSorted()).toEqual(odd.toSorted())
})

test('no machine has sessions whose ids no database holds', async () => {
  await using cluster = await createCluster()
  expect(await cluster.queue.homes(['a\0b', '\uD800', ''])).toEqual([])
})

test('SQL in ids and labels is text', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const hostile = String.raw`'; DROP SCHEMA helix_queue CASCADE; -- \u0000 \\u0000`
  const given = { sessionId: hostile, tenant: hostile, tags: [hostile] }
  await queue.enqueue(agent, hostile, given)
  await cluster.worker()
  await expect.poll(() => statusOf(cluster, hostile)).toBe('completed')
  expect(cluster.effects).toEqual([hostile])
})

test('many processes open a new queue at once', async () => {
  await using database = await createTestDatabase()
  const opened = Array.from({ length: 6 }, () => openTurnQueue({ connectionString: database.url }))
  const queues = await Promise.all(opened)
  expect(await queues[0]?.stats()).toMatchObject({ ready: 0 })
  for (const queue of queues) await queue.close()
})

test('files of a message come as they were', async () => {
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const data = new Uint8Array([0, 1, 255])
  const files = [
    { data, mediaType: 'image/png' },
    { data: 'https://example.com/x.png', mediaType: 'image/png' },
  ]
  const { sessionId } = await queue.enqueue(agent, { role: 'user', content: 'see', files })
  await cluster.worker()
  await expect.poll(() => statusOf(cluster, sessionId)).toBe('completed')
  expect((await store.loadMessages(sessionId)).messages[0]).toMatchObject({ files })
})

test('a server that restarts loses no turn', async () => {
  await using server = await startTestPostgres()
  const before = process.env.DATABASE_URL
  process.env.DATABASE_URL = server.url()
  await using cluster = await createCluster()
  if (before === undefined) delete process.env.DATABASE_URL
  else process.env.DATABASE_URL = before
  const { queue, agent } = cluster
  await cluster.worker({ heartbeatMs: 50 })
  await server.stop('immediate')
  await expect(queue.enqueue(agent, 'lost')).rejects.toMatchObject({ code: 'unavailable' })
  await server.start()
  const { sessionId } = await queue.enqueue(agent, 'kept')
  await expect.poll(() => statusOf(cluster, sessionId), { timeout: 25_000 }).toBe('completed')
  await expect.poll(() => queue.workers()).toHaveLength(1)
  expect(cluster.effects).toEqual(['kept'])
})
