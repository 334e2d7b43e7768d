// What a reader asks the server for, while its stream and others go on.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from './opened.ts'
import { NOW } from './script.ts'
import { type RoundTrip, WireLog } from './wire-log.ts'

const CHUNKS = 60
const base = { type: 'text_delta', agentId: 'run', agentType: 'a', timestamp: NOW } as const

test('a page is read once, however much is written while a reader goes through it', async () => {
  const url = await emptyPlace()
  const log = await WireLog.open(url)
  const [writer, reader] = [await opened(url), await opened(log.url)]
  const stream = await writer.streamManager.startRun('s', 'run', 'a')
  const own = await reader.streamManager.startRun('own', 'run', 'a')
  for (let n = 0; n < CHUNKS; n++) await stream.write({ ...base, delta: `${n}` })
  const chunks = (await reader.streamManager.read('s')) ?? []
  log.take()
  const reads: RoundTrip[] = []
  const deltas: string[] = []
  for await (const chunk of chunks) {
    deltas.push(deltaOf(chunk))
    if (deltas.length === CHUNKS) break
    // Of the same stream by another machine, and of another stream by this one.
    await stream.write({ ...base, delta: 'more' })
    await own.write({ ...base, delta: 'more' })
    reads.push(...log.take().filter(isRead))
  }
  expect(deltas).toEqual(Array.from({ length: CHUNKS }, (_, n) => `${n}`))
  expect(reads.length).toBeLessThanOrEqual(2)
})

test('a reader that is woken asks once', async () => {
  const url = await emptyPlace()
  const log = await WireLog.open(url)
  // Notifications alone wake it.
  const reader = await opened(log.url, { pollMs: 3_600_000 })
  const writer = await opened(url)
  const stream = await writer.streamManager.startRun('s', 'run', 'a')
  await stream.write({ ...base, delta: 'first' })
  const chunks = (await reader.streamManager.read('s')) ?? []
  log.take()
  let count = 0
  for await (const chunk of waiting(chunks, () => stream.write({ ...base, delta: 'next' }))) {
    if (chunk.type === 'text_delta') count++
    if (count === CHUNKS) break
  }
  // Besides those of its start, and of the connection that listens.
  expect(log.take().filter(isRead).length).toBeLessThanOrEqual(CHUNKS + 5)
})

/** Each chunk but the first is written when the reader waits for it. */
async function* waiting(
  chunks: AsyncIterable<SequencedChunk> | readonly SequencedChunk[],
  write: () => Promise<void>,
): AsyncGenerator<SequencedChunk> {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : undefined
  let next = iterator?.next()
  try {
    for (let result = await next; result?.done === false; result = await next) {
      next = iterator?.next()
      await write()
      yield result.value
    }
  } finally {
    await iterator?.return?.()
  }
}

test('a reader leaves what it holds when its stream begins again', async () => {
  const { streamManager } = await opened(await emptyPlace())
  const stream = await streamManager.startRun('s', 'run', 'a')
  for (let n = 0; n < 3; n++) await stream.write({ ...base, delta: `${n}` })
  const types: string[] = []
  for await (const chunk of (await streamManager.read('s')) ?? []) {
    types.push(chunk.type)
    if (types.length > 1) break
    await streamManager.startRun('s', 'next', 'a')
  }
  expect(types).toEqual(['text_delta', 'stream_resync'])
})

/** A transaction that only reads is given no number. */
function isRead(roundTrip: RoundTrip): boolean {
  return roundTrip[0] === 'BEGIN' && !roundTrip.includes('SELECT pg_current_xact_id')
}

const deltaOf = (chunk: SequencedChunk): string => (chunk.type === 'text_delta' ? chunk.delta : '')
