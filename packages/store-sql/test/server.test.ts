// What a server of many connections is asked for besides statements: locks before what is decided by,
// and who is to be woken. What it makes of it is for the tests of its package.
import { SqlStateStore, SqlStreamManager } from '@helix-agents/store-sql'
import { describe, expect, test } from 'vitest'
import { NewestPages, PageTransaction } from '../src/stream/read-page.ts'
import { openMigrated } from './conformance.ts'
import { ServedDatabase } from './served-database.ts'
import { fill, NOW } from './state/filled-store.ts'
import { text } from './stream/script.ts'

async function openStreams() {
  const database = new ServedDatabase(await openMigrated())
  const streams = new SqlStreamManager(database)
  const writer = await streams.startRun('s', 'r', 'a')
  const id = await database.read((sql) => Number(sql.get('SELECT id FROM helix_streams')?.['id']))
  database.log = []
  return { database, streams, writer, id }
}

describe('a stream', () => {
  test('is locked by its name before it is read, and its readers are told', async () => {
    const { database, streams, id } = await openStreams()
    const changes = [
      () => streams.startRun('s', 'r2', 'a'),
      () => streams.resumeRun('s', 'r3', 'a'),
      () => streams.endRun('s'),
      () => streams.deleteStream('s'),
    ]
    for (const change of changes) {
      database.log = []
      await change()
      const [together, lock, read] = database.log
      expect([together, lock]).toEqual(['together 1', 'lock SELECT streams s'])
      expect(read).toMatch(/^SELECT/)
      expect(database.log.at(-1)).toBe(`notify ${id} replaced ${id}`)
    }
  })

  test('is locked by its key before a chunk is added, of which readers are told', async () => {
    const { database, writer, id } = await openStreams()
    await writer.write(text('a'))
    expect(database.log).toEqual([
      'together 1',
      `lock SELECT streams ${id}`,
      'SELECT streams',
      'INSERT chunks',
      `notify ${id} replaced `,
    ])
  })

  test('that did not change is told to nobody', async () => {
    const { database, streams } = await openStreams()
    await streams.endRun('none')
    await streams.endRun('s', 'other')
    expect(database.log.filter((line) => line.startsWith('notify'))).toEqual([])
  })

  test('does not wait for others: each is a work of its own, and all are told together', async () => {
    const { database, streams, writer, id } = await openStreams()
    const other = await streams.startRun('t', 'r', 'a')
    database.log = []
    await Promise.all([writer.write(text('a')), other.write(text('b')), streams.endRun('s', 'r')])
    expect(database.log[0]).toBe('together 2')
    expect(database.log.at(-1)).toMatch(new RegExp(`^notify ${id},${id},\\d+ replaced ${id}$`))
    const chunks = await database.read((sql) => sql.all('SELECT chunk FROM helix_chunks'))
    expect(chunks.length).toBe(2)
  })

  test('is read by each reader for itself', async () => {
    const { database, writer, id } = await openStreams()
    await writer.write(text('a'))
    database.log = []
    await database.read((sql) => {
      const transaction = new PageTransaction(sql, new NewestPages())
      for (let reader = 0; reader < 2; reader++) {
        expect(transaction.head(id)?.next).toBe(2)
        expect(transaction.chunksFrom(id, 1).length).toBe(1)
      }
    })
    expect(database.log.length).toBe(4)
  })
})

async function openStore() {
  const database = new ServedDatabase(await openMigrated())
  const store = new SqlStateStore(database)
  const write = await fill(store)
  database.log = []
  return { database, store, write }
}

describe('a session', () => {
  test('is locked before what decides about it is read', async () => {
    const { database, store, write } = await openStore()
    const message = { role: 'user', content: 'x' } as const
    const queued = { messageId: 'n', sessionId: 's', delivery: 'steer', createdAt: NOW } as const
    const changes = [
      () => store.queueMessage({ ...queued, message }),
      () => store.beginRun({ ...write, runId: 'r3', leaseMs: 5, now: NOW + 9000 }),
      () => store.restoreCheckpoint('s', 'cp', NOW + 20_000),
      () => store.deleteSession('s'),
    ]
    for (const change of changes) {
      database.log = []
      await change()
      expect(database.log.slice(0, 2)).toEqual(['lock SELECT sessions s', 'SELECT sessions'])
    }
  })

  test('has a request that is locked before its answer is read', async () => {
    const { database, store } = await openStore()
    await store.resolveRequest('s', 'q1', { decision: 'deny', at: NOW })
    expect(database.log.slice(0, 2)).toEqual(['lock SELECT requests q1', 'SELECT requests'])
  })

  test('is held by the time of the server, where that counts', async () => {
    const { database, store, write } = await openStore()
    database.now = NOW + 50_000
    await store.renewRun({ ...write, leaseMs: 100 })
    const untilOf = async () => (await store.loadSession('s'))?.leaseUntil
    expect(await untilOf()).toBe(NOW + 50_100)
    const start = { ...write, runId: 'r3', leaseMs: 10, now: NOW + 90_000 }
    await expect(store.beginRun(start)).rejects.toMatchObject({ code: 'already-running' })
    await expect(store.restoreCheckpoint('s', 'cp', NOW + 90_000)).rejects.toMatchObject({
      code: 'conflict',
    })
    database.now = NOW + 50_100
    expect(await store.beginRun(start)).toMatchObject({
      leaseUntil: NOW + 50_110,
      updatedAt: NOW + 90_000,
    })
    database.now = undefined
    await store.renewRun({ ...start, leaseMs: 7 })
    expect(await untilOf()).toBe(NOW + 90_007)
  })
})
