import type { SqlDatabase, SqlStatements } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { appendChunks } from '../../src/stream/append-chunks.ts'
import { parseStreamLimits } from '../../src/stream/stream-limits.ts'
import {
  NewestPages,
  type PageRequest,
  type PageResult,
  PageTransaction,
  readPage,
  StoredChunk,
} from '../../src/stream/read-page.ts'
import { closeStream, loadStream, resumeRun, startRun } from '../../src/stream/stream-rows.ts'
import { openMigrated } from '../conformance.ts'
import { WatchedDatabase } from '../watched-database.ts'
import { text } from './script.ts'

const NAMES = { streamId: 's', agentId: 'r', agentType: 'a' }
const LIMITS = parseStreamLimits({})

interface Opened {
  readonly database: WatchedDatabase
  readonly stream: number
  append(jsons: readonly string[]): Promise<void>
}

/** The run of a stream after some others, without chunks; it begins at 2 × `runs` - 1. */
async function open(runs = 1): Promise<Opened> {
  const database = new WatchedDatabase(await openMigrated())
  const acquired = await database.write((sql) => {
    for (let run = 1; run < runs; run++) startRun(sql, NAMES)
    return startRun(sql, NAMES)
  })
  const append = async (jsons: readonly string[]): Promise<void> => {
    const chunks = jsons.map((json) => ({ json, bytes: json.length }))
    await database.write((sql) => appendChunks(sql, acquired, chunks, LIMITS))
  }
  return { database, stream: acquired.stream, append }
}

const words = (...all: readonly string[]): string[] =>
  all.map((word, index) => JSON.stringify(text(word, 100 + index)))

type Asked = Partial<Omit<PageRequest, 'stream'>>

function ask({ database, stream }: Opened, asked: Asked = {}): Promise<PageResult> {
  const request = { stream, position: 1, isHeld: false, maxBufferedChunks: 100, ...asked }
  return database.read((sql) => readPage(new PageTransaction(sql, new NewestPages()), request))
}

const sequencesOf = (result: PageResult): unknown =>
  result.kind === 'page' ? result.chunks.map(({ sequence }) => sequence) : result.kind

test('a page has the chunks from a position on, and says whether they are all there is', async () => {
  const opened = await open()
  expect(await ask(opened)).toEqual({ kind: 'wait' })
  await opened.append(words('a', 'b', 'c'))
  for (const position of [-1, 0, 1]) {
    const page = await ask(opened, { position })
    expect([sequencesOf(page), page]).toEqual([
      [1, 2, 3],
      expect.objectContaining({ isLast: true }),
    ])
  }
  const page = await ask(opened, { position: 3 })
  if (page.kind !== 'page') throw new Error(page.kind)
  expect(page.chunks[0]?.chunk).toEqual({ ...text('c', 102), sequence: 3 })
  expect(page.chunks[0]?.chunk).toBe(page.chunks[0]?.chunk)
  expect(await ask(opened, { position: 4 })).toEqual({ kind: 'wait' })
  expect(await ask(opened, { position: 2, isHeld: true })).toEqual({ kind: 'held' })
  await opened.database.write((sql) => closeStream(sql, opened.stream))
  expect(await ask(opened)).toMatchObject({ kind: 'page', isLast: false })
  expect(await ask(opened, { position: 4 })).toEqual({ kind: 'end' })
  expect(await ask({ ...opened, stream: opened.stream + 1 })).toEqual({ kind: 'end' })
})

test('a position of no chunk of the run is told the first one that is there', async () => {
  const opened = await open(3)
  const resync = {
    type: 'stream_resync',
    reason: 'new-run',
    nextSequence: 3,
    sequence: 2,
    timestamp: 0,
    agentId: 'r',
    agentType: 'a',
  }
  for (const position of [-1, 1, 2, 4]) {
    expect(await ask(opened, { position })).toEqual({ kind: 'resync', chunk: resync })
  }
  expect(await ask(opened, { position: 3 })).toEqual({ kind: 'wait' })
  await opened.append(words('a', 'b'))
  const later = { kind: 'resync', chunk: { ...resync, timestamp: 101 } }
  expect(await ask(opened, { position: 6 })).toEqual(later)
  expect(await ask(opened, { position: 2, isHeld: true })).toEqual(later)
  expect(await ask(opened, { position: 5 })).toEqual({ kind: 'wait' })
  expect(sequencesOf(await ask(opened, { position: 3 }))).toEqual([3, 4])
})

test('a reader that is too far behind is told what is kept, by the table or for it', async () => {
  const opened = await open()
  await opened.append(words('a', 'b', 'c', 'd', 'e'))
  expect(sequencesOf(await ask(opened, { position: 3, maxBufferedChunks: 3 }))).toEqual([3, 4, 5])
  expect(await ask(opened, { position: 2, maxBufferedChunks: 3 })).toMatchObject({
    kind: 'resync',
    chunk: { reason: 'buffer-overrun', nextSequence: 3, sequence: 2, timestamp: 104 },
  })
  await opened.database.write((sql) => sql.run('DELETE FROM helix_chunks WHERE sequence < 5'))
  expect(await ask(opened, { position: 4, isHeld: true, maxBufferedChunks: 3 })).toMatchObject({
    kind: 'resync',
    chunk: { reason: 'buffer-overrun', nextSequence: 5, sequence: 4 },
  })
  expect(sequencesOf(await ask(opened, { position: 5 }))).toEqual([5])
})

test('a page ends at 256 chunks, or 256 KiB behind its first chunk', async () => {
  const many = await open()
  await many.append(Array.from({ length: 300 }, () => '{"type":"x"}'))
  const page = await ask(many, { position: 2, maxBufferedChunks: 1000 })
  expect(page).toMatchObject({ kind: 'page', isLast: false })
  expect([sequencesOf(page)].flat().at(-1)).toBe(257)
  const big = await open()
  const half = 'x'.repeat(128 * 1024)
  await big.append(['x'.repeat(300_000), half, half, 'x', 'x'])
  expect(sequencesOf(await ask(big))).toEqual([1, 2, 3])
  expect(sequencesOf(await ask(big, { position: 2 }))).toEqual([2, 3, 4, 5])
})

test('a chunk that is lost is told, and so is one that is not of its kind', async () => {
  const opened = await open()
  await opened.append([...words('a', 'b'), '{', 'null', '[]', '"x"'])
  const sql = (statement: string): Promise<void> =>
    opened.database.write((statements) => statements.run(statement))
  const page = await ask(opened, { position: 3 })
  if (page.kind !== 'page') throw new Error(page.kind)
  for (const stored of page.chunks) {
    expect(() => stored.chunk).toThrow(
      expect.objectContaining({ kind: 'corrupt', message: 'a chunk cannot be read' }),
    )
  }
  await sql('DELETE FROM helix_chunks WHERE sequence = 2')
  await expect(ask(opened, { position: 2 })).rejects.toMatchObject({ kind: 'corrupt' })
  expect(sequencesOf(await ask(opened))).toEqual([1, 3, 4, 5, 6])
})

test('a resync has the time of the last chunk, or of the last one of the runs before', async () => {
  const opened = await open()
  const timeOf = async (): Promise<unknown> => {
    const result = await ask(opened, { position: 99 })
    return result.kind === 'resync' ? result.chunk.timestamp : result.kind
  }
  await opened.append(words('a', 'b'))
  expect(await timeOf()).toBe(101)
  const acquired = await opened.database.write((sql) => startRun(sql, NAMES))
  expect(await timeOf()).toBe(101)
  for (const json of ['{', '{"type":"x"}', '{"type":"x","timestamp":"7"}']) {
    await opened.database.write((sql) =>
      appendChunks(sql, acquired, [{ json, bytes: json.length }], LIMITS),
    )
    expect(await timeOf()).toBe(101)
  }
})

test('a time is not made up when the database fails', async () => {
  const opened = await open()
  await opened.append(words('a'))
  const error = new TypeError('mine')
  const reading = opened.database.read((sql) => {
    const failing: SqlStatements = {
      ...sql,
      get: (statement, ...values) => {
        const row = sql.get(statement, ...values)
        if (row === undefined || !('chunk' in row)) return row
        return Object.defineProperty({ ...row }, 'chunk', { get: () => thrown(error) })
      },
    }
    const request = { stream: opened.stream, position: 9, isHeld: false, maxBufferedChunks: 1 }
    return readPage(new PageTransaction(failing, new NewestPages()), request)
  })
  await expect(reading).rejects.toBe(error)
})

function thrown(error: unknown): never {
  throw error
}

test('a transaction reads each stream once, and each page once', async () => {
  const opened = await open()
  await opened.append(words('a', 'b', 'c'))
  const { database, stream } = opened
  const newest = new NewestPages()
  database.statements = []
  const read = (position: number): Promise<readonly StoredChunk[][]> =>
    database.read((sql) => {
      const transaction = new PageTransaction(sql, newest)
      expect(transaction.head(stream)).toBe(transaction.head(stream))
      expect(transaction.head(stream + 1)).toBeUndefined()
      expect(transaction.head(stream + 1)).toBeUndefined()
      return [transaction.chunksFrom(stream, position), transaction.chunksFrom(stream, 3)].map(
        (chunks) => [...chunks],
      )
    })
  const [from, last] = await read(2)
  expect([from?.length, last?.length, last?.[0] === from?.[1]]).toEqual([2, 1, true])
  expect(database.statements.length).toBe(3)
  const [again] = await read(2)
  expect([again?.[0] === from?.[0], database.statements.length]).toEqual([true, 5])
  await read(1)
  expect(database.statements.length).toBe(8)
})

test('the newest page of a stream is found by any of its positions, for the last 16 streams', () => {
  const pages = new NewestPages()
  const chunks = [5, 6, 7].map((sequence) => new StoredChunk(sequence, '{}'))
  expect(pages.find(1, 5)).toBeUndefined()
  pages.keep(1, chunks)
  const found = [4, 5, 6, 7, 8].map((position) =>
    pages.find(1, position)?.map((one) => one.sequence),
  )
  expect(found).toEqual([undefined, [5, 6, 7], [6, 7], [7], undefined])
  expect(pages.find(2, 5)).toBeUndefined()
  pages.keep(2, [])
  expect(pages.find(2, 5)).toBeUndefined()
  for (let stream = 3; stream <= 16; stream++) pages.keep(stream, chunks)
  pages.keep(1, chunks.slice(1))
  pages.keep(17, chunks)
  expect(pages.find(1, 5)).toBeUndefined()
  expect(pages.find(1, 6)).toEqual(chunks.slice(1))
  expect(pages.find(3, 5)).toEqual(chunks)
  pages.keep(18, chunks)
  expect([pages.find(3, 5), pages.find(4, 5), pages.find(18, 5)]).toEqual([
    undefined,
    chunks,
    chunks,
  ])
})

test('a writer that continues a run changes nothing of it but the writer', async () => {
  const opened = await open(2)
  await opened.append(words('a', 'b'))
  const before = await opened.database.read((sql) => loadStream(sql, opened.stream))
  expect(before).toEqual({
    id: opened.stream,
    writer: 2,
    isOpen: true,
    runStart: 2,
    agentId: 'r',
    agentType: 'a',
    timestamp: 0,
    first: 2,
    next: 4,
  })
  const names = { streamId: 's', agentId: 'r2', agentType: 'a2' }
  await opened.database.write((sql) => closeStream(sql, opened.stream))
  await opened.database.write((sql) => resumeRun(sql, names))
  const { agentId, agentType } = names
  const after = { ...before, writer: 3, agentId, agentType }
  expect(await headOf(opened.database, opened.stream)).toEqual(after)
  await opened.database.write((sql) => startRun(sql, NAMES))
  expect(await headOf(opened.database, opened.stream)).toEqual({
    ...before,
    writer: 4,
    runStart: 5,
    timestamp: 101,
    first: 5,
    next: 5,
  })
})

function headOf(database: SqlDatabase, stream: number): Promise<unknown> {
  return database.read((sql) => loadStream(sql, stream))
}
