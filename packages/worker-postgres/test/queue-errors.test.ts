import { createTestDatabase, startTestPostgres } from '@helix-agents/postgres-testbed'
import { createWorker, openTurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createCluster, statusOf } from './harness.ts'

test.each([
  ['an address where none listens', 'postgresql://postgres@127.0.0.1:1/x', 'unavailable'],
  ['no connection string', 'nonsense://', 'unavailable'],
])('%s is a typed error', async (_, connectionString, code) => {
  await expect(openTurnQueue({ connectionString })).rejects.toMatchObject({ code })
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
    queue.enqueue(agent, 'a\0b'),
  ]
  const results = await Promise.allSettled(bad)
  const rejected = { status: 'rejected', reason: { code: 'invalid-turn' } }
  expect(results).toMatchObject(bad.map(() => rejected))
  expect(await queue.stats()).toMatchObject({ ready: 0, delayed: 0 })
  await expect(
    openTurnQueue({ connectionString: cluster.url, schema: 'a b' }),
  ).rejects.toMatchObject({
    code: 'invalid-option',
  })
  const options = { queue, stateStore: cluster.store, agents: [agent], concurrency: 0 }
  expect(() => createWorker({} as never, options)).toThrow(/concurrency/)
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
