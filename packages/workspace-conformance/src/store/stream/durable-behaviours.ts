import type { StreamManager } from '@helix-agents/core/runtime'
import { check, equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { openReader, readAll, startRun, take, takeRest, text, wordsOf, writeAll } from './script.ts'
import type { StreamSubject } from './subject.ts'

export const streamDurableBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/durable/chunks-survive',
    needs: ['durable'],
    run: async (subject) => {
      await writeAll(await startRun(subject.streams), 'a', '\ud800\u0000')
      const before = await subject.streams.read('stream')
      check(before !== null, 'the stream to be there')
      const { sequence } = await take(before[Symbol.asyncIterator]())
      const streams = await reopened(subject)
      await streams.endRun('stream', 'run-1')
      const chunks = await readAll(streams)
      equal(wordsOf(chunks), ['a', '\ud800\u0000'])
      equal(
        chunks.map((chunk) => chunk.sequence),
        [sequence, sequence + 1],
      )
    },
  },
  {
    id: 'stream/durable/resumed-one-leaves-no-gap',
    needs: ['durable'],
    run: async (subject) => {
      await writeAll(await startRun(subject.streams), 'a', 'b')
      const streams = await reopened(subject)
      const writer = await streams.resumeRun('stream', 'run-2', 'agent')
      await writeAll(writer, 'c')
      await streams.endRun('stream', 'run-2')
      const chunks = await readAll(streams)
      equal(wordsOf(chunks), ['a', 'b', 'c'])
      const first = chunks[0]?.sequence ?? Number.NaN
      equal(
        chunks.map((chunk) => chunk.sequence - first),
        [0, 1, 2],
      )
      const rest = await readAll(streams, { fromSequence: first + 2 })
      equal(wordsOf(rest), ['c'])
    },
  },
  {
    id: 'stream/durable/new-one-is-announced',
    needs: ['durable'],
    run: async (subject) => {
      await writeAll(await startRun(subject.streams), 'a')
      const [{ sequence }] = [await take(await openReader(subject.streams))]
      const streams = await reopened(subject)
      await writeAll(await startRun(streams, 'run-2'), 'b')
      await streams.endRun('stream')
      const chunks = await readAll(streams, { fromSequence: sequence + 1 })
      equal(wordsOf(chunks), ['new-run', 'b'])
      check((chunks[1]?.sequence ?? 0) > sequence, 'a higher sequence number')
    },
  },
  {
    id: 'stream/durable/writer-of-the-previous-process-reaches-no-reader',
    needs: ['durable'],
    run: async (subject) => {
      const old = await startRun(subject.streams)
      await writeAll(old, 'a')
      const streams = await reopened(subject)
      const writer = await streams.resumeRun('stream', 'run-2', 'agent')
      await old.write(text('late')).catch((error: unknown) => {
        check(error instanceof Error, 'an error as rejection')
      })
      await subject.streams.endRun('stream', 'run-1')
      await writeAll(writer, 'b')
      await streams.endRun('stream', 'run-2')
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
    },
  },
  {
    id: 'stream/durable/reader-follows-another-process',
    needs: ['shared'],
    run: async (subject) => {
      const writer = await startRun(subject.streams)
      await writeAll(writer, 'a')
      const reader = await openReader(await reopened(subject))
      equal(wordsOf([await take(reader)]), ['a'])
      const next = take(reader)
      await writeAll(writer, 'b')
      equal(wordsOf([await next]), ['b'])
      const rest = takeRest(reader)
      await subject.streams.endRun('stream', 'run-1')
      equal(await rest, [])
    },
  },
]

async function reopened(subject: StreamSubject): Promise<StreamManager> {
  check(subject.reopen !== undefined, 'a durable subject to have reopen()')
  return subject.reopen()
}
