import type { SequencedChunk } from '@helix-agents/core/runtime'
import { check, equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import {
  openReader,
  readAll,
  startRun,
  take,
  takeMany,
  takeRest,
  wordsOf,
  writeAll,
} from './script.ts'
import type { StreamSubject } from './subject.ts'

export const streamResumeBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/resume/from-a-sequence',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a', 'b', 'c')
      const [, second] = await takeMany(await openReader(streams), 2)
      const reader = await openReader(streams, { fromSequence: second?.sequence ?? 0 })
      equal(wordsOf(await takeMany(reader, 2)), ['b', 'c'])
    },
  },
  {
    id: 'stream/resume/after-the-last-waits-for-the-next',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a')
      const { sequence } = await take(await openReader(streams))
      const reader = await openReader(streams, { fromSequence: sequence + 1 })
      const next = take(reader)
      await writeAll(writer, 'b')
      const chunk = await next
      equal([wordsOf([chunk]), chunk.sequence], [['b'], sequence + 1])
    },
  },
  {
    id: 'stream/resume/after-the-end-is-empty',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      await streams.endRun('stream')
      const [last] = await readAll(streams)
      equal(await readAll(streams, { fromSequence: (last?.sequence ?? 0) + 1 }), [])
    },
  },
  {
    id: 'stream/resume/full-buffer-is-complete',
    run: async ({ streams, maxBufferedChunks }) => {
      const words = await fill(await startRun(streams), maxBufferedChunks)
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), words)
    },
  },
  {
    id: 'stream/resume/overrun-is-announced',
    run: async ({ streams, maxBufferedChunks }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'first')
      const { sequence } = await take(await openReader(streams))
      const words = await fill(writer, maxBufferedChunks + 3)
      await streams.endRun('stream')
      const chunks = await readAll(streams, { fromSequence: sequence + 1 })
      equal(wordsOf(chunks), ['buffer-overrun', ...words.slice(3)])
      assertResync(chunks)
    },
  },
  {
    id: 'stream/resume/overrun-is-announced-to-a-new-reader',
    run: async ({ streams, maxBufferedChunks }) => {
      const words = await fill(await startRun(streams), maxBufferedChunks + 1)
      await streams.endRun('stream')
      const chunks = await readAll(streams)
      equal(wordsOf(chunks), ['buffer-overrun', ...words.slice(1)])
      assertResync(chunks)
    },
  },
  {
    id: 'stream/resume/overrun-is-announced-to-a-slow-reader',
    run: async ({ streams, maxBufferedChunks }) => {
      const writer = await startRun(streams)
      const reader = await openReader(streams)
      await writeAll(writer, 'seen')
      const seen = await take(reader)
      const words = await fill(writer, maxBufferedChunks + 5)
      await streams.endRun('stream')
      const chunks = await takeRest(reader)
      equal(wordsOf(chunks), ['buffer-overrun', ...words.slice(5)])
      assertResync(chunks)
      check((chunks[0]?.sequence ?? 0) > seen.sequence, 'sequence numbers to rise')
    },
  },
  {
    id: 'stream/resume/after-a-resync-goes-on',
    run: async ({ streams, maxBufferedChunks }) => {
      const words = await fill(await startRun(streams), maxBufferedChunks + 1)
      await streams.endRun('stream')
      const [resync] = await readAll(streams)
      const chunks = await readAll(streams, { fromSequence: (resync?.sequence ?? 0) + 1 })
      equal(wordsOf(chunks), words.slice(1))
    },
  },
  {
    id: 'stream/resume/sequence-of-another-stream-is-announced',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a', 'b')
      await streams.endRun('stream')
      const chunks = await readAll(streams, { fromSequence: 1_000_000 })
      equal(wordsOf(chunks), ['new-run', 'a', 'b'])
      assertResync(chunks)
    },
  },
]

/** Writes so many chunks. */
async function fill(
  writer: Parameters<typeof writeAll>[0],
  count: number,
): Promise<readonly string[]> {
  const words = Array.from({ length: count }, (_, index) => `w${index}`)
  await writeAll(writer, ...words)
  return words
}

/** The first chunk is a resync that stands right before the second and names it. */
function assertResync(chunks: readonly SequencedChunk[]): void {
  const [resync, next] = chunks
  check(resync?.type === 'stream_resync' && next !== undefined, 'a resync and a chunk')
  equal([resync.nextSequence, resync.sequence], [next.sequence, next.sequence - 1])
  equal([resync.agentId, resync.agentType], ['run-1', 'agent'])
}
