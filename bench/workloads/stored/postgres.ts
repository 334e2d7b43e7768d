// The Postgres store against the same rows written by `pg` alone, on one server with `fsync`.
import { setTimeout } from 'node:timers/promises'
import type { RunWrite, SessionStateStore, StreamChunk } from '@helix-agents/core/runtime'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { openPostgresStores, type PostgresStores } from '@helix-agents/store-postgres'
import { Client } from 'pg'
import { measure } from '../../harness/measure.ts'
import { openRawServerStore } from '../../harness/raw/postgres.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { answer, call, toolResult } from '../../harness/session-messages.ts'
import { run as pagesOfSessions } from './listing.ts'
import { rawWakes } from './raw-wakes.ts'

const WRITERS = 8
/** 2 000 chunks a second of all writers. */
const MOST_CHUNK_MICROSECONDS = 500
const MOST_WAKE_MS = 50
/** 2 667 chunks a second of all writers: more than they may take. */
const BUSY: Pace = { chunks: 2000, everyMs: 3 }
/** 25 a second of each writer, as models say them. */
const STEADY: Pace = { chunks: 200, everyMs: 40 }

interface Pace {
  /** Of each writer. */
  readonly chunks: number
  readonly everyMs: number
}

export async function run(): Promise<Verdict[]> {
  await using server = await startTestPostgres({ durable: true })
  const verdicts: Verdict[] = []
  for (const part of [steps, chunks]) {
    await using database = await server.createDatabase()
    verdicts.push(...(await part(database.url)))
  }
  return [...verdicts, ...(await pagesOfSessions())]
}

/** A step as the executor stores it: the answer and its journal, then the result and checkpoint. */
async function steps(url: string): Promise<Verdict[]> {
  const stores = await openPostgresStores(url)
  const raw = await openRawServerStore(url)
  const write = await begin(stores.stateStore)
  const measurements = await measure([
    {
      name: 'store-postgres',
      run: async (times) => {
        for (let i = 0; i < times; i++) await step(stores.stateStore, write)
      },
    },
    {
      name: 'pg, the same rows',
      run: async (times) => {
        for (let i = 0; i < times; i++) await raw.step()
      },
    },
  ])
  await Promise.all([stores.close(), raw.close()])
  return [
    report({
      title: 'postgres: one committed step, two transactions',
      ours: 'store-postgres',
      limit: 'pg, the same rows',
      measurements,
      gate: { most: 1.5 },
    }),
  ]
}

async function begin(store: SessionStateStore): Promise<RunWrite> {
  const now = Date.now()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: { n: 0 }, now })
  await store.beginRun({ sessionId: 's', runId: 'r', leaseMs: 3_600_000, now })
  return { sessionId: 's', runId: 'r', now }
}

let counter = 0

async function step(store: SessionStateStore, write: RunWrite): Promise<void> {
  const id = `call-${counter++}`
  const now = Date.now()
  const fence = { ...write, now }
  const entry = { toolCallId: id, ...call, startedAt: now }
  await store.beginStep({ ...fence, messages: [answer(id)], journal: [entry] })
  const checkpointId = `cpv1-${write.sessionId}-s${counter}-t${now}-abcdef`
  await store.commitStep({ ...fence, messages: [toolResult(id)], checkpointId })
}

/** Each writer is a machine; one more machine reads all streams. */
async function chunks(url: string): Promise<Verdict[]> {
  const machines = await Promise.all(
    Array.from({ length: WRITERS + 1 }, () => openPostgresStores(url)),
  )
  // A reader that waits does not keep its process alive.
  const alive = setInterval(() => {}, 1000)
  const awaited = await awaitedChunks(url, machines)
  const raw = await rawWakes(url)
  // The busy ones first: they open the connections.
  const busy = await modelChunks(machines, BUSY)
  const steady = await modelChunks(machines, STEADY)
  clearInterval(alive)
  await Promise.all(machines.map((machine) => machine.close()))
  const names = { ours: 'store-postgres', limit: 'goal' }
  return [
    report({
      title: `postgres: a chunk of ${WRITERS} machines, each awaited, against an autocommit of its row`,
      ours: 'store-postgres',
      limit: 'pg, the same rows',
      measurements: awaited,
      gate: { most: 2 },
    }),
    report({
      title: `postgres: a chunk of ${WRITERS} models, against 2,000 a second`,
      ...names,
      measurements: [
        { name: 'goal', microseconds: MOST_CHUNK_MICROSECONDS },
        { name: 'store-postgres', microseconds: busy.microseconds },
      ],
      gate: { most: 1 },
    }),
    ...[
      { title: `p95 of ${WRITERS} models at 25 chunks a second each`, lags: steady.lags },
      { title: 'p95 of 2,667 chunks a second', lags: busy.lags },
    ].map(({ title, lags }) =>
      report({
        title: `postgres: from a write to its reader on another machine, ${title}`,
        ...names,
        measurements: [
          { name: 'goal', microseconds: MOST_WAKE_MS * 1000 },
          { name: 'pg alone, one chunk at a time', microseconds: quantile(raw, 0.95) * 1000 },
          { name: 'store-postgres, median', microseconds: quantile(lags, 0.5) * 1000 },
          { name: 'store-postgres', microseconds: quantile(lags, 0.95) * 1000 },
        ],
        gate: { most: 1 },
        unit: 'ms',
      }),
    ),
  ]
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}

const DELTA = 'a few words that a model says, '

function toChunk(streamId: string): StreamChunk {
  const timestamp = performance.now()
  return { type: 'text_delta', delta: DELTA, agentId: streamId, agentType: 'writer', timestamp }
}

/** Each writer takes its share of the chunks, and awaits each of them. */
async function byTurns(times: number, write: (at: number) => Promise<void>): Promise<void> {
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, at) => {
      for (let i = at; i < times; i += WRITERS) await write(at)
    }),
  )
}

function awaitedChunks(url: string, machines: readonly PostgresStores[]) {
  return withRawChunks(url, async (insert) => {
    const writers = await Promise.all(
      machines
        .slice(0, WRITERS)
        .map(({ streamManager }, at) => streamManager.startRun(`awaited ${at}`, 'run', 'writer')),
    )
    return measure([
      {
        name: 'store-postgres',
        run: async (times) => {
          await byTurns(times, async (at) => writers[at]?.write(toChunk('run')))
        },
      },
      {
        name: 'pg, the same rows',
        run: async (times) => {
          await byTurns(times, (at) => insert(at, JSON.stringify(toChunk('run'))))
        },
      },
    ])
  })
}

/** Connections that insert chunks, one for each writer. */
async function withRawChunks<T>(
  url: string,
  use: (insert: (at: number, chunk: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const clients = Array.from({ length: WRITERS }, () => new Client({ connectionString: url }))
  await Promise.all(clients.map((client) => client.connect()))
  await clients[0]?.query(
    'CREATE TABLE raw_chunks (stream bigint, sequence bigint, chunk text, PRIMARY KEY (stream, sequence))',
  )
  let sequence = 0
  const text = 'INSERT INTO raw_chunks VALUES ($1, $2, $3)'
  try {
    return await use(async (at, chunk) => {
      await clients[at]?.query({ name: 'insert', text, values: [at, sequence++, chunk] })
    })
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

/** Models say a chunk every few milliseconds, whatever the store does, as runs write them. */
async function modelChunks(machines: readonly PostgresStores[], pace: Pace) {
  const [reader, ...writers] = machines
  if (reader === undefined) throw new TypeError('no machine reads')
  const lags: number[] = []
  const started = performance.now()
  const line = { reader, lags, pace }
  await Promise.all(
    writers.map((writer, at) => follow(`${pace.everyMs} ms ${at}`, { ...line, writer })),
  )
  const microseconds = ((performance.now() - started) * 1000) / (WRITERS * pace.chunks)
  return { microseconds, lags }
}

interface Line {
  readonly writer: PostgresStores
  readonly reader: PostgresStores
  readonly lags: number[]
  readonly pace: Pace
}

/** Writes a stream, and reads it elsewhere. */
async function follow(streamId: string, { writer, reader, lags, pace }: Line): Promise<void> {
  const stream = await writer.streamManager.startRun(streamId, streamId, 'writer')
  const chunksRead = (await reader.streamManager.read(streamId)) ?? []
  const reading = (async () => {
    for await (const chunk of chunksRead) lags.push(performance.now() - chunk.timestamp)
  })()
  const startedAt = performance.now()
  let last: Promise<void> | undefined
  for (let written = 0; written < pace.chunks;) {
    await setTimeout(1)
    const due = Math.min(pace.chunks, (performance.now() - startedAt) / pace.everyMs)
    while (written < due && ++written) last = stream.write(toChunk(streamId))
  }
  await last
  await writer.streamManager.endRun(streamId)
  await reading
}
