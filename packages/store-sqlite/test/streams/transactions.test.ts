import { join } from 'node:path'
import { SqlError, SqlStreamManager } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'
import { countChunks, openReader, openStreams, readAll, settled, text, wordsOf } from './script.ts'

test('chunks of one turn share a transaction, in the order of all writers', async () => {
  const { database, streams } = await openStreams()
  const [one, two] = [await streams.startRun('s', 'r', 'a'), await streams.startRun('t', 'r', 'a')]
  database.transactions = 0
  const words = Array.from({ length: 100 }, (_, index) => `${index}`)
  await Promise.all(words.flatMap((word) => [one.write(text(word)), two.write(text(word))]))
  expect(database.transactions).toBe(1)
  await streams.endRun('s')
  expect(wordsOf(await readAll(streams))).toEqual(words)
})

test('changes that nobody waits for happen in the order of their calls', async () => {
  const { streams } = await openStreams()
  const first = await streams.startRun('s', 'r1', 'a')
  const done: Promise<unknown>[] = [first.write(text('a')), streams.endRun('s', 'r1')]
  done.push(first.write(text('late')))
  const starting = streams.startRun('s', 'r2', 'a')
  done.push(first.write(text('later')))
  const second = await starting
  done.push(second.write(text('b')), streams.endRun('s'), second.write(text('late')))
  await Promise.all(done)
  const chunks = await readAll(streams, { fromSequence: 1 })
  expect(wordsOf(chunks)).toEqual(['new-run', 'b'])
  expect(chunks.map((chunk) => chunk.sequence)).toEqual([2, 3])
})

test('a chunk is committed before a reader has it', async () => {
  const { file, database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await openReader(streams)
  const log: string[] = []
  const next = reader.next().then(() => log.push('read'))
  await settled()
  database.failure = () => log.push('before the commit')
  const written = writer.write(text('a')).then(() => log.push('written'))
  await Promise.all([next, written])
  expect(log[0]).toBe('before the commit')
  expect(await countChunks(file)).toBe(1)
})

test('a batch that fails rejects its writes and leaves no gap', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await writer.write(text('a'))
  database.failure = () => {
    throw new SqlError('full', 'no space left')
  }
  const lost = [writer.write(text('b')), writer.write(text('c'))]
  for (const write of lost) {
    await expect(write).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'unavailable',
      sessionId: 's',
    })
  }
  await expect(streams.startRun('s', 'r2', 'a')).rejects.toMatchObject({ code: 'unavailable' })
  database.failure = undefined
  await writer.write(text('d'))
  await streams.endRun('s')
  const chunks = await readAll(streams)
  expect(wordsOf(chunks)).toEqual(['a', 'd'])
  expect(chunks.map((chunk) => chunk.sequence)).toEqual([1, 2])
})

test('a stream that is damaged does not disturb the writes of others', async () => {
  const { database, streams } = await openStreams()
  const [bad, good] = [await streams.startRun('s', 'r', 'a'), await streams.startRun('t', 'r', 'a')]
  database.failure = (sql) => {
    if (sql.get("SELECT 1 FROM helix_chunks WHERE chunk LIKE '%poison%'") === undefined) return
    throw new SqlError('corrupt', 'a page cannot be read')
  }
  const lost = bad.write(text('poison'))
  const stored = good.write(text('fine'))
  await expect(lost).rejects.toMatchObject({ code: 'corrupt', sessionId: 's' })
  await stored
  await streams.endRun('t')
  expect(wordsOf(await readAll(streams, {}, 't'))).toEqual(['fine'])
})

test('a damaged chunk is told, with its place, and the others can be read', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  for (const word of ['a', 'b', 'c']) await writer.write(text(word))
  await streams.endRun('s')
  await database.write((sql) => sql.run("UPDATE helix_chunks SET chunk = '{' WHERE sequence = 2"))
  const reader = await openReader(streams)
  expect((await reader.next()).value).toMatchObject({ delta: 'a' })
  await expect(reader.next()).rejects.toMatchObject({ code: 'corrupt', sessionId: 's' })
  expect((await reader.next()).done).toBe(true)
  expect(wordsOf(await readAll(streams, { fromSequence: 3 }))).toEqual(['c'])
  await database.write((sql) => sql.run('DELETE FROM helix_chunks WHERE sequence = 2'))
  const hole = await openReader(streams, { fromSequence: 2 })
  await expect(hole.next()).rejects.toMatchObject({ code: 'corrupt' })
  await database.write((sql) => sql.run("UPDATE helix_chunks SET chunk = '{'"))
  await streams.startRun('s', 'r2', 'a')
  expect(wordsOf([(await (await openReader(streams, { fromSequence: 1 })).next()).value!])).toEqual(
    ['new-run'],
  )
})

test('readers of a database that is closed fail, so that clients come back', async () => {
  const { file, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const next = (await openReader(streams)).next()
  await settled()
  await file.close()
  await expect(next).rejects.toMatchObject({ code: 'unavailable' })
  await expect(writer.write(text('a'))).rejects.toMatchObject({ code: 'unavailable' })
  await expect(streams.read('s')).rejects.toMatchObject({ code: 'unavailable' })
})

test('a deleted stream that is made again is another one', async () => {
  const { streams } = await openStreams()
  const old = await streams.startRun('s', 'r', 'a')
  await old.write(text('a'))
  const reader = await openReader(streams)
  await reader.next()
  await streams.deleteStream('s')
  const writer = await streams.startRun('s', 'r', 'a')
  await old.write(text('late'))
  await writer.write(text('b'))
  expect((await reader.next()).done).toBe(true)
  await streams.endRun('s')
  expect(wordsOf(await readAll(streams))).toEqual(['b'])
})

test('readers of another manager of the same database go on at once', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const next = (await openReader(new SqlStreamManager(database))).next()
  await settled()
  await writer.write(text('a'))
  await settled()
  expect((await next).value).toMatchObject({ delta: 'a' })
})

test('calls of next that wait together are answered in their order', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await openReader(streams)
  const results = Promise.all([reader.next(), reader.next(), reader.next(), reader.next()])
  await Promise.all([writer.write(text('a')), writer.write(text('b'))])
  await writer.write(text('c'))
  await streams.endRun('s')
  expect((await results).map(({ value }) => value?.sequence)).toEqual([1, 2, 3, undefined])
})

test('no hot statement scans a table', async () => {
  const { database, streams } = await openStreams(
    { maxBufferedChunks: 8, maxBufferedBytes: 1000 },
    join(temporaryDirectory(), 'plans.db'),
  )
  const writer = await streams.startRun('s', 'r', 'a')
  for (let i = 0; i < 30; i++) await writer.write(text('x'.repeat(i * 10)))
  await readAll(streams, { signal: AbortSignal.abort() })
  await (await openReader(streams, { fromSequence: 2 })).next()
  await (await openReader(streams, { fromSequence: 30 })).next()
  await streams.resumeRun('s', 'r2', 'a')
  await streams.endRun('s')
  await streams.startRun('s', 'r3', 'a')
  await streams.deleteStream('s')
  const seen = [...database.statements]
  expect(seen.filter((one) => one.startsWith('DELETE')).length).toBe(3)
  const plans = await database.read((sql) =>
    seen.flatMap((one) => {
      const values = Array.from({ length: one.split('?').length - 1 }, () => 1)
      return sql.all(`EXPLAIN QUERY PLAN ${one}`, ...values).map((row) => String(row['detail']))
    }),
  )
  expect(plans.filter((plan) => /SCAN (?!CONSTANT)|TEMP B-TREE/.test(plan))).toEqual([])
  expect(plans.length).toBeGreaterThan(10)
})
