import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  SequencedChunk,
  StreamChunk,
  StreamManager,
  StreamReaderOptions,
} from '@helix-agents/core/runtime'
import {
  migrate,
  type SqlDatabase,
  type SqlRow,
  type SqlStatements,
  SqlStreamManager,
  type SqlStreamManagerOptions,
} from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { onTestFinished } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'

export type Reader = AsyncIterator<SequencedChunk, undefined>

export function text(delta: string, timestamp = 1000): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp }
}

/** A database that says what it was asked, and fails when it is told to. */
export class WatchedDatabase implements SqlDatabase {
  readonly statements = new Set<string>()
  transactions = 0
  /** What queries for many rows have given. */
  readonly pages: (readonly SqlRow[])[] = []
  /** Thrown by the transactions that match; those are rolled back. */
  failure: ((sql: SqlStatements) => void) | undefined
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.read((sql) => work(this.#watched(sql)))
  }

  write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.write((sql) => {
      this.transactions++
      const result = work(this.#watched(sql))
      this.failure?.(sql)
      return result
    })
  }

  onForeignWrite(listener: () => void): () => void {
    return this.#database.onForeignWrite(listener)
  }

  #watched(sql: SqlStatements): SqlStatements {
    const see = (statement: string): string => {
      this.statements.add(statement)
      return statement
    }
    return {
      run: (statement, ...values) => sql.run(see(statement), ...values),
      get: (statement, ...values) => sql.get(see(statement), ...values),
      all: (statement, ...values) => {
        const rows = sql.all(see(statement), ...values)
        this.pages.push(rows)
        return rows
      },
    }
  }
}

export interface Opened {
  readonly file: SqliteDatabase
  readonly database: WatchedDatabase
  readonly streams: SqlStreamManager
}

/** Streams in a new file, closed after the test. */
export async function openStreams(
  options: SqlStreamManagerOptions = {},
  path = join(temporaryDirectory(), 'helix.db'),
): Promise<Opened> {
  const file = await SqliteDatabase.open(path)
  onTestFinished(() => file.close())
  await migrate(file, { now: 1 })
  const database = new WatchedDatabase(file)
  return { file, database, streams: new SqlStreamManager(database, options) }
}

export async function openReader(
  streams: StreamManager,
  options?: StreamReaderOptions,
  streamId = 's',
): Promise<Reader> {
  const chunks = await streams.read(streamId, options)
  return chunks![Symbol.asyncIterator]() as Reader
}

export async function readAll(
  streams: StreamManager,
  options?: StreamReaderOptions,
  streamId = 's',
): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  for await (const chunk of (await streams.read(streamId, options))!) chunks.push(chunk)
  return chunks
}

export function wordsOf(chunks: readonly SequencedChunk[]): string[] {
  return chunks.map((chunk) => {
    if (chunk.type === 'text_delta') return chunk.delta
    return chunk.type === 'stream_resync' ? chunk.reason : chunk.type
  })
}

/** Lets everything that can go on without I/O go on. */
export async function settled(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

export function countChunks(database: SqlDatabase): Promise<number> {
  return database.read((sql) => Number(sql.get('SELECT count(*) AS n FROM helix_chunks')?.['n']))
}
