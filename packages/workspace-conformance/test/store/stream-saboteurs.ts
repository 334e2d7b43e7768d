import type { SequencedChunk, StreamManager, StreamReaderOptions } from '@helix-agents/core/runtime'
import type { ReferenceStreams } from './reference-streams.ts'
import { without } from './without.ts'
import { streamBoundSaboteurs } from './stream-bound-saboteurs.ts'

type Broken = Partial<StreamManager>
type Chunks = AsyncIterable<SequencedChunk>

const PASSING_MS = 1

/** Behaviour id → what a stream manager gets wrong. Each must be caught by its behaviour. */
export const streamSaboteurs: Readonly<Record<string, (good: ReferenceStreams) => Broken>> = {
  'stream/read/unknown-is-null': (good) => ({
    read: async (streamId, options) => (await good.read(streamId, options)) ?? none(),
  }),
  'stream/read/gives-what-was-written': (good) =>
    mapped(good, (chunk) => ({ ...chunk, agentId: '' })),
  'stream/read/sequences-rise-by-one': (good) =>
    mapped(good, (chunk) => ({ ...chunk, sequence: chunk.sequence * 2 })),
  'stream/read/keeps-the-order-of-unawaited-writes': (good) => ({
    startRun: async (...args) => {
      const writer = await good.startRun(...args)
      let writes = 0
      return {
        write: async (chunk) => {
          if (writes++ === 0) await new Promise((resolve) => setTimeout(resolve, PASSING_MS))
          await writer.write(chunk)
        },
      }
    },
  }),
  'stream/read/reader-may-come-before-the-first-chunk': (good) => ({
    read: async (streamId, options) =>
      good.streams.get(streamId)?.chunks.length === 0 ? none() : good.read(streamId, options),
  }),
  'stream/read/waiting-reader-goes-on-within-one-turn': (good) => ({
    read: async (streamId, options) => {
      const chunks = await good.read(streamId, options)
      return chunks && polling(chunks)
    },
  }),
  'stream/read/late-reader-gets-the-whole-run': (good) => ({
    read: (streamId, options) =>
      good.read(streamId, { fromSequence: good.streams.get(streamId)?.next ?? 1, ...options }),
  }),
  'stream/read/readers-do-not-share-chunks': (good) => {
    const readers = new Map<string, Chunks | null>()
    return {
      read: async (streamId, options) => {
        const reader = readers.get(streamId) ?? (await good.read(streamId, options))
        readers.set(streamId, reader)
        return reader
      },
    }
  },
  'stream/read/streams-do-not-mix': (good) => ({
    startRun: (streamId, ...run) => good.resumeRun(streamId.slice(0, 6), ...run),
    endRun: (streamId) => good.endRun(streamId.slice(0, 6)),
  }),
  'stream/read/hostile-ids-do-not-mix': (good) => ({
    startRun: (streamId, ...run) => good.startRun(streamId.toLowerCase(), ...run),
  }),
  'stream/read/hostile-texts-survive': (good) =>
    mapped(good, (chunk) =>
      chunk.type === 'text_delta' ? { ...chunk, delta: chunk.delta.toWellFormed() } : chunk,
    ),
  'stream/read/abort-ends-a-waiting-reader': (good) => ({
    read: (streamId, options) => good.read(streamId, withoutSignal(options)),
  }),
  'stream/read/abort-before-the-start-gives-nothing': (good) => ({
    read: async (streamId, options) => {
      const chunks = await good.read(streamId, withoutSignal(options))
      return chunks && upToAbort(chunks, options?.signal)
    },
  }),
  'stream/read/leaving-a-loop-disturbs-no-other-reader': (good) => ({
    read: async (streamId, options) => {
      const chunks = await good.read(streamId, options)
      return chunks && whenLeft(chunks, () => good.endRun(streamId))
    },
  }),

  'stream/resume/from-a-sequence': (good) => ({ read: (streamId) => good.read(streamId) }),
  'stream/resume/after-the-last-waits-for-the-next': (good) => ({
    read: async (streamId, options) =>
      options?.fromSequence === good.streams.get(streamId)?.next
        ? none()
        : good.read(streamId, options),
  }),
  'stream/resume/after-the-end-is-empty': (good) => ({ read: (streamId) => good.read(streamId) }),
  'stream/resume/full-buffer-is-complete': (good) => ({
    endRun: async (streamId) => {
      good.streams.get(streamId)?.chunks.shift()
      await good.endRun(streamId)
    },
  }),
  'stream/resume/overrun-is-announced': (good) => withoutResync(good),
  'stream/resume/overrun-is-announced-to-a-new-reader': (good) => withoutResync(good),
  'stream/resume/overrun-is-announced-to-a-slow-reader': (good) => withoutResync(good),
  'stream/resume/after-a-resync-goes-on': (good) =>
    mapped(good, (chunk) =>
      chunk.type === 'stream_resync' ? { ...chunk, sequence: chunk.sequence - 1 } : chunk,
    ),
  'stream/resume/sequence-of-another-stream-is-announced': (good) => ({
    read: async (streamId, options) =>
      (options?.fromSequence ?? 0) > 1000 ? none() : good.read(streamId, options),
  }),

  'stream/run/end-lets-readers-finish': (good) => ({
    endRun: async (streamId) => {
      const stream = good.streams.get(streamId)
      if (stream !== undefined) stream.chunks = []
      await good.endRun(streamId)
    },
  }),
  'stream/run/end-wakes-waiting-readers': (good) => ({
    endRun: async (streamId) => {
      const stream = good.streams.get(streamId)
      if (stream !== undefined) stream.open = false
    },
  }),
  'stream/run/ended-one-can-be-read-again': (good) => {
    let reads = 0
    return {
      read: async (streamId, options) => (reads++ > 0 ? none() : good.read(streamId, options)),
    }
  },
  'stream/run/end-of-an-unknown-stream-does-nothing': (good) => ({
    endRun: async (streamId) => {
      await good.resumeRun(streamId, '', '')
      await good.endRun(streamId)
    },
  }),
  'stream/run/new-one-starts-empty': (good) => ({ startRun: (...args) => good.resumeRun(...args) }),
  'stream/run/sequences-are-never-used-again': (good) => ({
    startRun: async (...args) => {
      await good.deleteStream(args[0])
      return good.startRun(...args)
    },
  }),
  'stream/run/new-one-is-announced-to-waiting-readers': (good) => ({
    startRun: (...args) => good.resumeRun(...args),
  }),
  'stream/run/new-one-is-announced-to-slow-readers': (good) => ({
    startRun: (...args) => good.resumeRun(...args),
  }),
  'stream/run/new-one-is-announced-to-resuming-readers': (good) => withoutResync(good),
  'stream/run/resumed-one-goes-on': (good) => ({ resumeRun: (...args) => good.startRun(...args) }),
  'stream/run/resume-does-not-disturb-readers': (good) => ({
    resumeRun: (...args) => good.startRun(...args),
  }),
  'stream/run/resume-of-an-unknown-stream-starts-it': () => ({
    resumeRun: async () => ({ write: async () => {} }),
  }),
  'stream/run/late-chunk-reaches-no-reader': (good) => ({
    endRun: async () => {},
    read: async (streamId, options) => {
      await good.endRun(streamId)
      return good.read(streamId, options)
    },
  }),
  'stream/run/chunk-of-the-previous-run-reaches-no-reader': (good) => ({
    startRun: async (...args) => {
      const writer = await good.startRun(...args)
      const stream = good.streams.get(args[0])!
      const run = stream.run
      return {
        write: async (chunk) => {
          const current = stream.run
          stream.run = run
          await writer.write(chunk)
          stream.run = current
        },
      }
    },
  }),
  'stream/run/end-names-its-run': (good) => ({
    endRun: async (streamId, agentId) => {
      if (agentId === undefined) await good.endRun(streamId)
    },
  }),
  'stream/run/end-of-another-one-does-nothing': (good) => ({
    endRun: (streamId) => good.endRun(streamId),
  }),
  'stream/run/may-end-twice': (good) => ({
    endRun: async (streamId) => {
      const stream = good.streams.get(streamId)
      if (stream?.open === false) stream.chunks = []
      await good.endRun(streamId)
    },
  }),
  'stream/run/empty-one-is-announced-and-continues': (good) => ({
    endRun: async (streamId, agentId) => {
      const stream = good.streams.get(streamId)
      if (stream?.chunks.length === 0) stream.first = 1
      await good.endRun(streamId, agentId)
    },
  }),
  'stream/delete/ends-readers': (good) => {
    let deleted = false
    return {
      deleteStream: async (streamId) => {
        deleted = true
        await good.endRun(streamId)
      },
      read: async (...args) => (deleted ? none() : good.read(...args)),
    }
  },
  'stream/delete/removes-its-chunks': (good) => ({
    deleteStream: (streamId) => good.endRun(streamId),
    startRun: (...args) => good.resumeRun(...args),
  }),

  ...streamBoundSaboteurs,
  'stream/durable/chunks-survive': (good) => ({
    read: async (...args) => {
      const stream = good.streams.get(args[0])
      const reader = await good.read(...args)
      if (stream !== undefined) stream.chunks = stream.chunks.slice(0, 1)
      return reader
    },
  }),
  'stream/durable/resumed-one-leaves-no-gap': (good) => ({
    startRun: async (...args) => {
      const writer = await good.startRun(...args)
      const skip = (): void => void good.streams.get(args[0])!.next++
      return { write: (chunk) => writer.write(chunk).then(skip) }
    },
  }),
  'stream/durable/new-one-is-announced': (good) => ({
    read: async (...args) => {
      const reader = await good.read(...args)
      good.streams.delete(args[0])
      return reader
    },
  }),
  'stream/durable/writer-of-the-previous-process-reaches-no-reader': (good) => ({
    endRun: (streamId) => good.endRun(streamId),
  }),
  'stream/durable/reader-follows-another-process': (good) => ({
    startRun: async (...args) => {
      const writer = await good.startRun(...args)
      let writes = 0
      return { write: async (chunk) => (writes++ > 0 ? undefined : writer.write(chunk)) }
    },
  }),
}

async function* none(): AsyncGenerator<SequencedChunk> {}

async function* polling(chunks: Chunks): AsyncGenerator<SequencedChunk> {
  for await (const chunk of chunks) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    yield chunk
  }
}

async function* upToAbort(chunks: Chunks, signal?: AbortSignal): AsyncGenerator<SequencedChunk> {
  for await (const chunk of chunks) {
    yield chunk
    if (signal?.aborted) return
  }
}

async function* whenLeft(
  chunks: Chunks,
  leave: () => Promise<void>,
): AsyncGenerator<SequencedChunk> {
  try {
    yield* chunks
  } finally {
    await leave()
  }
}

async function* mapEach(
  chunks: Chunks,
  change: (chunk: SequencedChunk) => SequencedChunk | undefined,
): AsyncGenerator<SequencedChunk> {
  for await (const chunk of chunks) {
    const changed = change(chunk)
    if (changed !== undefined) yield changed
  }
}

function mapped(
  good: StreamManager,
  change: (chunk: SequencedChunk) => SequencedChunk | undefined,
): Broken {
  return {
    read: async (streamId, options) => {
      const chunks = await good.read(streamId, options)
      return chunks && mapEach(chunks, change)
    },
  }
}

function withoutResync(good: StreamManager): Broken {
  return mapped(good, (chunk) => (chunk.type === 'stream_resync' ? undefined : chunk))
}

function withoutSignal(options: StreamReaderOptions = {}): StreamReaderOptions {
  return without(options, 'signal')
}
