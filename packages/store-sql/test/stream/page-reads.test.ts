import { SqlError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { PageReads } from '../../src/stream/page-reads.ts'
import type { PageRequest } from '../../src/stream/read-page.ts'
import { WatchedDatabase } from '../watched-database.ts'
import { openDatabase } from '../node-database.ts'
import { openStreams, settled, text } from './script.ts'

const requestOf = (stream: number, position = 1): PageRequest => ({
  stream,
  position,
  isHeld: false,
  maxBufferedChunks: 100,
})

/** Two streams with a chunk each, and their keys. */
async function open() {
  const { database, streams } = await openStreams()
  for (const id of ['s', 't']) await (await streams.startRun(id, 'r', 'a')).write(text(id))
  const [s, t] = await database.read((sql) =>
    sql.all('SELECT id FROM helix_streams ORDER BY stream_id').map(({ id }) => Number(id)),
  )
  database.reads = 0
  database.statements = []
  const requests = { s: requestOf(s ?? 0), t: requestOf(t ?? 0), end: requestOf(s ?? 0, 2) }
  return { database, pages: PageReads.of(database), requests }
}

test('a database has one', async () => {
  const { database, pages } = await open()
  expect(PageReads.of(database)).toBe(pages)
  expect(PageReads.of(new WatchedDatabase(openDatabase()))).not.toBe(pages)
})

test('readers that ask in one turn share a transaction, and what it reads', async () => {
  const { database, pages, requests } = await open()
  const results = await Promise.all([
    pages.read(requests.s),
    pages.read(requests.t),
    pages.read(requests.s),
    pages.read(requests.end),
  ])
  expect(results.map(({ kind }) => kind)).toEqual(['page', 'page', 'page', 'wait'])
  expect([database.reads, database.statements.length]).toEqual([1, 4])
  const [first, , third] = results
  if (first?.kind !== 'page' || third?.kind !== 'page') throw new Error('no page')
  expect(first.chunks[0]).toBe(third.chunks[0])
})

test('readers that ask while a transaction is under way share the next one', async () => {
  const { database, pages, requests } = await open()
  const { promise, resolve } = Promise.withResolvers<void>()
  database.gate = promise
  const first = pages.read(requests.s)
  await settled()
  const later = [pages.read(requests.t), pages.read(requests.end)]
  await settled()
  expect(database.reads).toBe(0)
  resolve()
  expect((await first).kind).toBe('page')
  expect((await Promise.all(later)).map(({ kind }) => kind)).toEqual(['page', 'wait'])
  expect(database.reads).toBe(2)
  expect((await pages.read(requests.end)).kind).toBe('wait')
  expect(database.reads).toBe(3)
})

test('what is damaged of one stream does not disturb the readers of others', async () => {
  const { database, pages, requests } = await open()
  await database.write((sql) =>
    sql.run('UPDATE helix_streams SET agent_id = ? WHERE id = ?', '"', requests.s.stream),
  )
  const results = await Promise.allSettled([pages.read(requests.s), pages.read(requests.t)])
  expect(results).toMatchObject([
    { status: 'rejected', reason: { name: 'SqlError', kind: 'corrupt' } },
    { status: 'fulfilled', value: { kind: 'page' } },
  ])
})

test.each([new SqlError('io', 'the disk'), new TypeError('mine')])(
  'a transaction that fails is told to all who asked, and later ones go on: %s',
  async (error) => {
    const { database, pages, requests } = await open()
    database.failure = () => {
      throw error
    }
    const lost = [pages.read(requests.s), pages.read(requests.t)]
    for (const one of lost) await expect(one).rejects.toBe(error)
    database.failure = undefined
    expect((await pages.read(requests.s)).kind).toBe('page')
  },
)
