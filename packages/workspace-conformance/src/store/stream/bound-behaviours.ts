import { contentLimits, type StreamChunk } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { readAll, startRun, text, wordsOf } from './script.ts'
import type { StreamSubject } from './subject.ts'

/** More than any store takes as one chunk. */
const LARGE = 5_000_000
const MAX_CHUNK_CHARACTERS = 2_000_000
const TOO_LONG_ID = 'x'.repeat(contentLimits.maxIdCharacters + 1)

/** What a stream takes is bounded: a large chunk is cut, and keeps its place. */
export const streamBoundBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/bounds/large-chunk-is-cut',
    run: async ({ streams }) => {
      const writer = await startRun(streams)
      await writer.write(text('before'))
      await writer.write(text('x'.repeat(LARGE)))
      await writer.write({ ...text(''), type: 'custom', eventName: 'deep', data: deep(100_000) })
      await writer.write(text('after'))
      await streams.endRun('stream')
      const chunks = await readAll(streams)
      equal(
        chunks.map(({ type, sequence }) => [type, sequence]),
        [
          ['text_delta', 1],
          ['text_delta', 2],
          ['custom', 3],
          ['text_delta', 4],
        ],
      )
      equal([wordsOf(chunks)[0], wordsOf(chunks)[3]], ['before', 'after'])
      const [, large] = chunks
      equal(large?.truncated, ['delta'])
      check(JSON.stringify(large).length < MAX_CHUNK_CHARACTERS, 'a large chunk to be cut')
    },
  },
  {
    id: 'stream/bounds/ids',
    run: async ({ streams }) => {
      await rejectsWithCode('not-storable', () => streams.startRun(TOO_LONG_ID, 'r', 'a'))
      await rejectsWithCode('not-storable', () => streams.startRun('stream', TOO_LONG_ID, 'a'))
      await rejectsWithCode('not-storable', () => streams.resumeRun('stream', 'r', TOO_LONG_ID))
      equal(await streams.read('stream'), null)
    },
  },
]

function deep(levels: number): Extract<StreamChunk, { type: 'custom' }>['data'] {
  let value: unknown = 0
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
