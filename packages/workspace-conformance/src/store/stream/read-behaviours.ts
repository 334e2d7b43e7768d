import type { StreamChunk } from '@helix-agents/core/runtime'
import { check, equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { unguessable } from '../../unguessable.ts'
import {
  beforeNextTurn,
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

const BASE = { agentId: 'run-1', agentType: 'agent', timestamp: 1234 }

const ONE_OF_EACH: readonly StreamChunk[] = [
  { ...BASE, type: 'text_delta', delta: 'é\u{1F600}' },
  { ...BASE, type: 'tool_start', toolCallId: 'c', toolName: 't', arguments: { a: [1, null] } },
  { ...BASE, type: 'tool_end', toolCallId: 'c', toolName: 't', success: true, result: { b: 2 } },
  { ...BASE, type: 'state_patch', patches: [{ op: 'add', path: '/a/-', value: 3 }] },
  { ...BASE, type: 'output', output: { poem: 'x' } },
]

/** Ids of sessions, and of their sub-agents; a path leads to nothing. */
function hostileIds(): string[] {
  const mark = unguessable()
  const endings = ['a', 'A', 'a/s1-0', 'a/s1-1', "a'b", 'a%', 'a_', '\u00e4', '\u{1F600}']
  return [...endings.map((ending) => `${mark}-${ending}`), `../${mark}-a`, '__proto__']
}

export const streamReadBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/read/unknown-is-null',
    run: async ({ streams }) => {
      await startRun(streams)
      equal(await streams.read('nothing'), null)
    },
  },
  {
    id: 'stream/read/gives-what-was-written',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      for (const chunk of ONE_OF_EACH) await writer.write(chunk)
      await streams.endRun('stream')
      const chunks = await readAll(streams)
      equal(chunks.length, ONE_OF_EACH.length)
      for (const [index, wanted] of ONE_OF_EACH.entries()) {
        const got = new Map(Object.entries(chunks[index] ?? {}))
        for (const [key, value] of Object.entries(wanted)) equal([key, got.get(key)], [key, value])
      }
    },
  },
  {
    id: 'stream/read/sequences-rise-by-one',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a', 'b', 'c')
      await streams.endRun('stream')
      const chunks = await readAll(streams)
      const first = chunks[0]?.sequence ?? Number.NaN
      equal(wordsOf(chunks), ['a', 'b', 'c'])
      equal(
        chunks.map((chunk) => chunk.sequence),
        [first, first + 1, first + 2],
      )
    },
  },
  {
    id: 'stream/read/keeps-the-order-of-unawaited-writes',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const words = Array.from({ length: 8 }, (_, index) => `w${index}`)
      await Promise.all(words.map((word) => writer.write(text(word))))
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), words)
    },
  },
  {
    id: 'stream/read/reader-may-come-before-the-first-chunk',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const reader = await openReader(streams)
      const first = reader.next()
      await writeAll(writer, 'a', 'b')
      equal((await within(first)).done, false)
      equal(wordsOf([await take(reader)]), ['b'])
    },
  },
  {
    id: 'stream/read/waiting-reader-goes-on-within-one-turn',
    needs: ['immediate'],
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const reader = await openReader(streams)
      const next = reader.next()
      await writer.write(text('a'))
      equal((await beforeNextTurn(next)).done, false)
    },
  },
  {
    id: 'stream/read/late-reader-gets-the-whole-run',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writeAll(writer, 'a', 'b')
      const reader = await openReader(streams)
      equal(wordsOf(await takeMany(reader, 2)), ['a', 'b'])
      await writeAll(writer, 'c')
      equal(wordsOf([await take(reader)]), ['c'])
    },
  },
  {
    id: 'stream/read/readers-do-not-share-chunks',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const readers = await Promise.all([openReader(streams), openReader(streams)])
      const waiting = await openReader(streams)
      const first = waiting.next()
      await writeAll(writer, 'a', 'b')
      await streams.endRun('stream')
      for (const reader of readers) equal(wordsOf(await takeRest(reader)), ['a', 'b'])
      equal((await within(first)).done, false)
      equal(wordsOf(await takeRest(waiting)), ['b'])
    },
  },
  {
    id: 'stream/read/streams-do-not-mix',
    run: async ({ streams }) => {
      const mine = await startRun(streams)
      const other = await streams.startRun('stream2', 'run-2', 'agent')
      await writeAll(mine, 'a')
      await writeAll(other, 'x')
      await streams.endRun('stream2')
      await writeAll(mine, 'b')
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
    },
  },
  {
    id: 'stream/read/hostile-ids-do-not-mix',
    run: async ({ streams }) => {
      const hostile = hostileIds()
      const writers = hostile.map((id) => streams.startRun(id, 'run-1', 'agent'))
      for (const [index, id] of hostile.entries()) {
        await (await writers[index])?.write(text(`of ${id}`))
      }
      for (const id of hostile) {
        await streams.endRun(id)
        const chunks = await streams.read(id)
        check(chunks !== null, 'the stream to be there')
        equal(wordsOf(await takeRest(chunks[Symbol.asyncIterator]())), [`of ${id}`])
      }
    },
  },
  {
    id: 'stream/read/hostile-texts-survive',
    run: async ({ streams }) => {
      const words = ['', 'a\u0000b', '\ud800', '\udc00 x', '\u2028', '\uFEFF', '"', "'; --"]
      await writeAll(await startRun(streams), ...words)
      await streams.endRun('stream')
      equal(wordsOf(await readAll(streams)), words)
    },
  },
  {
    id: 'stream/read/abort-ends-a-waiting-reader',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const stop = new AbortController()
      const reader = await openReader(streams, { signal: stop.signal })
      const other = await openReader(streams)
      await writeAll(writer, 'a')
      await take(reader)
      const next = reader.next()
      stop.abort(new Error('enough'))
      equal((await within(next)).done, true)
      await writeAll(writer, 'b')
      equal(await takeRest(reader), [])
      equal(wordsOf(await takeMany(other, 2)), ['a', 'b'])
    },
  },
  {
    id: 'stream/read/abort-before-the-start-gives-nothing',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      equal(await readAll(streams, { signal: AbortSignal.abort() }), [])
    },
  },
  {
    id: 'stream/read/leaving-a-loop-disturbs-no-other-reader',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      const other = await openReader(streams)
      await writeAll(writer, 'a')
      const chunks = await streams.read('stream')
      check(chunks !== null, 'the stream to be there')
      for await (const chunk of chunks) {
        equal(wordsOf([chunk]), ['a'])
        break
      }
      await writeAll(writer, 'b')
      equal(wordsOf(await takeMany(other, 2)), ['a', 'b'])
    },
  },
]
