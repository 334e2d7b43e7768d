// Chunks into a SQLite file: awaited one by one, in bursts of one turn, and read again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StreamChunk, StreamManager } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { type Contender, measure, type Measurement } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'

const BURST = 100
/** What a run keeps: a file of it is read again. */
const KEPT = 10_000
/** 100,000 chunks a second. */
const MOST_MICROSECONDS_IN_BURSTS = 10

const BASE = { agentId: 'run-0123456789abcdef', agentType: 'writer' }
const CHUNK: StreamChunk = {
  ...BASE,
  type: 'text_delta',
  delta: 'a few words that a model says, ',
  timestamp: 1_800_000_000_000,
}

export async function run(): Promise<Verdict[]> {
  const directory = mkdtempSync(join(tmpdir(), 'helix-bench-'))
  const stores = await openSqliteStores(join(directory, 'helix.db'))
  const raw = openRaw(join(directory, 'raw.db'))
  try {
    const streams = stores.streamManager
    const single = await measure([await helix(streams, 1), limit(raw, 1)])
    const burst = await measure([await helix(streams, BURST), limit(raw, BURST)])
    const replay = await measure([await reader(streams), rawReader(raw)])
    return verdicts({ single, burst, replay })
  } finally {
    raw.close()
    await stores.close()
    rmSync(directory, { recursive: true })
  }
}

interface Figures {
  readonly single: readonly Measurement[]
  readonly burst: readonly Measurement[]
  readonly replay: readonly Measurement[]
}

function verdicts({ single, burst, replay }: Figures): Verdict[] {
  const names = { ours: 'helix', limit: 'node:sqlite' }
  const inBursts = [
    { name: 'limit', microseconds: MOST_MICROSECONDS_IN_BURSTS },
    ...burst.filter((one) => one.name === 'helix'),
  ]
  return [
    report({
      title: 'streams: one chunk, awaited, against an autocommit of its row',
      ...names,
      measurements: single,
      gate: { most: 2 },
    }),
    report({
      title: `streams: one chunk of a burst of ${BURST}, against a transaction of its rows`,
      ...names,
      measurements: burst,
      gate: { most: 4 },
    }),
    report({
      title: `streams: one chunk of a burst of ${BURST}, against 100,000 a second`,
      ours: 'helix',
      limit: 'limit',
      measurements: inBursts,
      gate: { most: 1 },
    }),
    report({
      title: `streams: one chunk of ${KEPT} read again, against its row parsed`,
      ...names,
      measurements: replay,
      gate: { most: 3 },
    }),
  ]
}

/** One time is one chunk. */
async function helix(streams: StreamManager, burst: number): Promise<Contender> {
  const writer = await streams.startRun(`bursts of ${burst}`, BASE.agentId, BASE.agentType)
  return {
    name: 'helix',
    run: async (times) => {
      for (let written = 0; written < times; written += burst) {
        let last: Promise<void> | undefined
        for (let i = 0; i < burst; i++) last = writer.write(CHUNK)
        await last
      }
    },
  }
}

const INSERT = 'INSERT INTO chunks (stream, sequence, chunk) VALUES (?, ?, ?)'

function openRaw(path: string): DatabaseSync {
  const raw = new DatabaseSync(path)
  raw.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000',
  )
  raw.exec(
    'CREATE TABLE chunks (stream INTEGER, sequence INTEGER, chunk TEXT, PRIMARY KEY (stream, sequence)) WITHOUT ROWID',
  )
  return raw
}

function limit(raw: DatabaseSync, burst: number): Contender {
  const insert = raw.prepare(INSERT)
  const [begin, commit] = [raw.prepare('BEGIN IMMEDIATE'), raw.prepare('COMMIT')]
  let sequence = 0
  return {
    name: 'node:sqlite',
    run: (times) => {
      for (let written = 0; written < times; written += burst) {
        if (burst > 1) begin.run()
        for (let i = 0; i < burst; i++) insert.run(burst, ++sequence, JSON.stringify(CHUNK))
        if (burst > 1) commit.run()
      }
    },
  }
}

/** One time is one chunk, of runs that are as long as the buffer. */
async function reader(streams: StreamManager): Promise<Contender> {
  const writer = await streams.startRun('replay', BASE.agentId, BASE.agentType)
  await Promise.all(Array.from({ length: KEPT }, () => writer.write(CHUNK)))
  await streams.endRun('replay')
  return {
    name: 'helix',
    run: async (times) => {
      for (let read = 0; read < times;) {
        for await (const _ of (await streams.read('replay')) ?? []) if (++read >= times) break
      }
    },
  }
}

function rawReader(raw: DatabaseSync): Contender {
  raw.exec('DELETE FROM chunks; BEGIN')
  const insert = raw.prepare(INSERT)
  for (let i = 0; i < KEPT; i++) insert.run(0, i, JSON.stringify(CHUNK))
  raw.exec('COMMIT')
  const select = raw.prepare('SELECT chunk FROM chunks WHERE stream = 0 ORDER BY sequence')
  return {
    name: 'node:sqlite',
    run: (times) => {
      for (let read = 0; read < times;) {
        for (const row of select.iterate()) {
          JSON.parse(String(row['chunk']))
          if (++read >= times) break
        }
      }
    },
  }
}
