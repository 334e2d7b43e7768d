import {
  type SqlDatabase,
  SqlError,
  SqlStateStore,
  SqlStreamManager,
} from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { openReader, openStreams, readAll, text, wordsOf } from './script.ts'

function countOf(database: SqlDatabase, table: string): Promise<unknown> {
  return database.read((sql) => sql.get(`SELECT count(*) AS n FROM ${table}`)?.['n'])
}

test('a change is stored when its promise settles', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  expect(await countOf(database, 'helix_streams')).toBe(1)
  await writer.write(text('a'))
  expect(await countOf(database, 'helix_chunks')).toBe(1)
  await streams.endRun('s', 'r', text('b'))
  expect(await countOf(database, 'helix_chunks')).toBe(2)
  expect(await countOf(database, 'helix_streams WHERE is_open = 0')).toBe(1)
  await streams.deleteStream('s')
  expect(await countOf(database, 'helix_chunks')).toBe(0)
  expect(await countOf(database, 'helix_streams')).toBe(0)
  await streams.deleteStream('s')
})

test('a database that fails is told to whoever asked, with the stream', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  database.failure = () => {
    throw new SqlError('full', 'no space left')
  }
  const lost = [
    () => streams.startRun('s', 'r2', 'a'),
    () => streams.resumeRun('s', 'r2', 'a'),
    () => streams.endRun('s'),
    () => streams.deleteStream('s'),
    () => streams.read('s'),
    () => writer.write(text('a')),
  ]
  for (const call of lost) {
    await expect(call()).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'unavailable',
      sessionId: 's',
    })
  }
  database.failure = undefined
  await writer.write(text('b'))
  await streams.endRun('s')
  expect(wordsOf(await readAll(streams))).toEqual(['b'])
})

test('an error that is none of the database is passed on', async () => {
  const { database, streams } = await openStreams()
  const error = new TypeError('mine')
  database.failure = () => {
    throw error
  }
  await expect(streams.read('s')).rejects.toBe(error)
  await expect(streams.startRun('s', 'r', 'a')).rejects.toBe(error)
})

test('a database that runs no transaction is none', async () => {
  const { database } = await openStreams()
  const broken = Object.create(database, {
    write: { value: async () => [] },
    read: { value: (work: never) => database.read(work) },
  }) as SqlDatabase
  await expect(new SqlStreamManager(broken).startRun('s', 'r', 'a')).rejects.toThrow(
    'the database did not run the transaction',
  )
})

test.each([Number.NaN, 1.5, Infinity, -Infinity])(
  'what is no sequence number is none that ever was: %d',
  async (fromSequence) => {
    const { streams } = await openStreams()
    await (await streams.startRun('s', 'r', 'a')).write(text('a'))
    await streams.endRun('s')
    expect(wordsOf(await readAll(streams, { fromSequence }))).toEqual(['new-run', 'a'])
  },
)

test.each([0, -3])(
  'from before the first chunk that ever was, all are read: %d',
  async (fromSequence) => {
    const { streams } = await openStreams()
    const writer = await streams.startRun('s', 'r', 'a')
    const waiting = (await openReader(streams, { fromSequence })).next()
    await writer.write(text('a'))
    expect((await waiting).value).toMatchObject({ delta: 'a', sequence: 1 })
    await writer.write(text('b'))
    await streams.endRun('s')
    expect(wordsOf(await readAll(streams, { fromSequence }))).toEqual(['a', 'b'])
  },
)

test('limits hold for chunks, for the last one, and for readers', async () => {
  const { streams } = await openStreams({ maxChunkBytes: 4096, maxBufferedChunks: 16 })
  const writer = await streams.startRun('s', 'r', 'a')
  for (let chunk = 0; chunk < 16; chunk++) await writer.write(text(`${chunk}`))
  await writer.write(text('x'.repeat(5000)))
  await streams.endRun('s', 'r', text('y'.repeat(5000)))
  const chunks = await readAll(streams)
  expect(wordsOf(chunks).slice(0, 2)).toEqual(['buffer-overrun', '2'])
  expect(chunks.slice(-2)).toMatchObject([{ truncated: ['delta'] }, { truncated: ['delta'] }])
  expect(chunks.length).toBe(17)
})

test('a run whose session has a later one comes too late', async () => {
  const { database, streams } = await openStreams()
  const store = new SqlStateStore(database)
  await store.createSession({ sessionId: 's', agentType: 'a', customState: 0, now: 1 })
  await store.beginRun({ sessionId: 's', runId: 'r1', leaseMs: 1, now: 1 })
  const old = await streams.startRun('s', 'r1', 'a')
  await old.write(text('a'))
  await store.beginRun({ sessionId: 's', runId: 'r2', leaseMs: 1, now: 10 })
  for (const late of [
    await streams.startRun('s', 'r1', 'a'),
    await streams.resumeRun('s', 'r1', 'a'),
  ]) {
    await late.write(text('late'))
  }
  await old.write(text('b'))
  const writer = await streams.resumeRun('s', 'r2', 'a')
  await old.write(text('late'))
  await writer.write(text('c'))
  await streams.endRun('s', 'r1')
  await writer.write(text('d'))
  await streams.endRun('s', 'r2')
  expect(wordsOf(await readAll(streams))).toEqual(['a', 'b', 'c', 'd'])
})

test('chunks of one turn share a transaction until another change comes between', async () => {
  const { database, streams } = await openStreams()
  const [one, two] = [await streams.startRun('s', 'r', 'a'), await streams.startRun('t', 'r', 'a')]
  database.writes = 0
  database.statements = []
  const writes = [one.write(text('a')), one.write(text('b')), two.write(text('x'))]
  writes.push(one.write(text('c')), streams.endRun('s', 'r'), one.write(text('late')))
  expect(writes[0]).toBe(writes[1])
  await Promise.all(writes)
  expect(database.writes).toBe(1)
  expect(database.statements.filter((each) => each.startsWith('INSERT')).length).toBe(4)
  expect(wordsOf(await readAll(streams))).toEqual(['a', 'b', 'c'])
})

test('a stream that is deleted and made again is another one to those who knew it', async () => {
  const { streams } = await openStreams()
  const old = await streams.startRun('s', 'r', 'a')
  await old.write(text('a'))
  const reader = await openReader(streams)
  await reader.next()
  await streams.deleteStream('s')
  const writer = await streams.startRun('s', 'r', 'a')
  await old.write(text('late'))
  await writer.write(text('b'))
  expect(await reader.next()).toEqual({ done: true, value: undefined })
  await streams.endRun('s', 'other')
  await writer.write(text('c'))
  await streams.endRun('s')
  expect(wordsOf(await readAll(streams))).toEqual(['b', 'c'])
})
