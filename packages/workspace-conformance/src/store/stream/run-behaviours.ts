import type { StreamWriter } from '@helix-agents/core/runtime'
import { check, equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { unguessable } from '../../unguessable.ts'
import {
  openReader,
  readAll,
  startRun,
  take,
  takeMany,
  takeRest,
  text,
  within,
  wordsOf,
  writeAll,
} from './script.ts'
import type { StreamSubject } from './subject.ts'

export const streamRunBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/run/end-lets-readers-finish',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const [waiting, slow] = await Promise.all([openReader(streams), openReader(streams)])
      await writeAll(writer, 'a')
      await take(waiting)
      const next = waiting.next()
      await writeAll(writer, 'b')
      await streams.endRun('stream')
      equal((await within(next)).done, false)
      equal(await takeRest(waiting), [])
      equal(wordsOf(await takeRest(slow)), ['a', 'b'])
    },
  },
  {
    id: 'stream/run/end-wakes-waiting-readers',
    run: async ({ streams }) => {
      await startRun(streams)
      const reader = await openReader(streams)
      const next = reader.next()
      await streams.endRun('stream')
      equal((await within(next)).done, true)
    },
  },
  {
    id: 'stream/run/ended-one-can-be-read-again',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a', 'b')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
    },
  },
  {
    id: 'stream/run/end-of-an-unknown-stream-does-nothing',
    run: async ({ streams }) => {
      await streams.endRun('stream')
      equal(await streams.read('stream'), null)
    },
  },
  {
    id: 'stream/run/new-one-starts-empty',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'old')
      await streams.endRun('stream')
      await writeAll(await startRun(streams, 'run-2'), 'new')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['new'])
    },
  },
  {
    id: 'stream/run/sequences-are-never-used-again',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a', 'b')
      const last = (await takeMany(await openReader(streams), 2))[1]
      const second = await startRun(streams, 'run-2')
      await writeAll(second, 'c')
      const next = await take(await openReader(streams))
      check(last !== undefined && next.sequence > last.sequence, 'a higher sequence number')
    },
  },
  {
    id: 'stream/run/new-one-is-announced-to-waiting-readers',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const reader = await openReader(streams)
      const { sequence } = await take(reader)
      const next = take(reader)
      const second = await startRun(streams, 'run-2')
      const resync = await next
      await writeAll(second, 'b')
      const chunk = await take(reader)
      equal(wordsOf([resync, chunk]), ['new-run', 'b'])
      check(resync.sequence > sequence, 'sequence numbers to rise')
      check(resync.type === 'stream_resync', 'a resync')
      equal([resync.nextSequence, resync.sequence], [chunk.sequence, chunk.sequence - 1])
      equal(resync.agentId, 'run-2')
    },
  },
  {
    id: 'stream/run/new-one-is-announced-to-slow-readers',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a', 'b')
      const reader = await openReader(streams)
      await take(reader)
      await writeAll(await startRun(streams, 'run-2'), 'c')
      await streams.endRun('stream')
      equal(wordsOf(await takeRest(reader)), ['new-run', 'c'])
    },
  },
  {
    id: 'stream/run/new-one-is-announced-to-resuming-readers',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a', 'b')
      await streams.endRun('stream')
      const [first, last] = await readAll(streams)
      await writeAll(await startRun(streams, 'run-2'), 'c')
      await streams.endRun('stream')
      for (const seen of [first, last]) {
        const chunks = await readAll(streams, { fromSequence: (seen?.sequence ?? 0) + 1 })
        equal(wordsOf(chunks), ['new-run', 'c'])
      }
    },
  },
  {
    id: 'stream/run/resumed-one-goes-on',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      await streams.endRun('stream')
      const [first] = await readAll(streams)
      const resumed = await streams.resumeRun('stream', 'run-2', 'agent')
      const sequence = first?.sequence ?? Number.NaN
      const reader = await openReader(streams, { fromSequence: sequence + 1 })
      const next = take(reader)
      await writeAll(resumed, 'b')
      const chunk = await next
      equal([wordsOf([chunk]), chunk.sequence], [['b'], sequence + 1])
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
    },
  },
  {
    id: 'stream/run/resume-does-not-disturb-readers',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const reader = await openReader(streams)
      await take(reader)
      const next = take(reader)
      const resumed = await streams.resumeRun('stream', 'run-2', 'agent')
      await writeAll(resumed, 'b')
      equal(wordsOf([await next]), ['b'])
    },
  },
  {
    id: 'stream/run/resume-of-an-unknown-stream-starts-it',
    run: async ({ streams }) => {
      await writeAll(await streams.resumeRun('stream', 'run-1', 'agent'), 'a')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a'])
    },
  },
  {
    id: 'stream/run/late-chunk-reaches-no-reader',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a')
      await streams.endRun('stream')
      await writeLate(writer)
      equal(wordsOf(await readAll(streams)), ['a'])
    },
  },
  {
    id: 'stream/run/chunk-of-the-previous-run-reaches-no-reader',
    run: async ({ streams }) => {
      const old = await startRun(streams)
      const writer = await startRun(streams, 'run-2')
      await writeLate(old)
      await writeAll(writer, 'a')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a'])
    },
  },
  {
    id: 'stream/run/end-names-its-run',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const reader = await openReader(streams)
      await writeAll(writer, 'a')
      await streams.endRun('stream', 'run-1')
      await writeLate(writer)
      equal(wordsOf(await takeRest(reader)), ['a'])
    },
  },
  {
    id: 'stream/run/end-of-another-one-does-nothing',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const writer = await streams.resumeRun('stream', 'run-2', 'agent')
      const reader = await openReader(streams)
      await streams.endRun('stream', 'run-1')
      await streams.endRun('nothing', 'run-1')
      await writeAll(writer, 'b')
      await streams.endRun('stream', 'run-2')
      equal(wordsOf(await takeRest(reader)), ['a', 'b'])
    },
  },
  {
    id: 'stream/run/may-end-twice',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      await streams.endRun('stream', 'run-1')
      await streams.endRun('stream', 'run-1')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a'])
    },
  },
  {
    id: 'stream/run/empty-one-is-announced-and-continues',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a', 'b')
      const [waiting, slow] = [await openReader(streams), await openReader(streams)]
      await takeMany(waiting, 2)
      await take(slow)
      const next = take(waiting)
      await startRun(streams, 'run-2')
      await streams.endRun('stream', 'run-2')
      equal(wordsOf([await next]), ['new-run'])
      equal(await takeRest(waiting), [])
      const [resync, ...more] = await takeRest(slow)
      check(resync?.type === 'stream_resync', 'a resync')
      equal([more.length, await readAll(streams)], [0, []])
      const resumed = await streams.resumeRun('stream', 'run-3', 'agent')
      await writeAll(resumed, 'c')
      await streams.endRun('stream')
      const [chunk] = await readAll(streams, { fromSequence: resync.nextSequence })
      equal([chunk?.type, chunk?.sequence], ['text_delta', resync.nextSequence])
    },
  },
  {
    id: 'stream/delete/ends-readers',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const reader = await openReader(streams)
      const next = reader.next()
      await streams.deleteStream('stream')
      equal((await within(next)).done, true)
      equal(await streams.read('stream'), null)
      await writeLate(writer)
      equal(await streams.read('stream'), null)
    },
  },
  {
    id: 'stream/delete/removes-its-chunks',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'old')
      await streams.deleteStream('stream')
      await streams.deleteStream(unguessable())
      await writeAll(await startRun(streams, 'run-2'), 'new')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['new'])
    },
  },
]

/** A write that may be rejected or dropped. */
async function writeLate(writer: StreamWriter): Promise<void> {
  await writer.write(text('late')).catch((error: unknown) => {
    check(error instanceof Error, 'an error as rejection')
  })
}
