import { equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { openReader, readAll, startRun, take, takeRest, text, wordsOf, writeAll } from './script.ts'
import type { StreamSubject } from './subject.ts'

/** The end of a run and its last chunk are one step. */
export const streamEndBehaviours: readonly Behaviour<StreamSubject>[] = [
  {
    id: 'stream/end/has-a-last-chunk',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const [waiting, late] = [await openReader(streams), await openReader(streams)]
      await take(waiting)
      const next = take(waiting)
      await streams.endRun('stream', 'run-1', text('last'))
      const chunk = await next
      equal([wordsOf([chunk]), await takeRest(waiting)], [['last'], []])
      const rest = await takeRest(late)
      equal([wordsOf(rest), rest[1]?.sequence], [['a', 'last'], chunk.sequence])
      equal(wordsOf(await readAll(streams)), ['a', 'last'])
    },
  },
  {
    id: 'stream/end/last-chunk-is-written-once',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const ends = ['b', 'c', 'd'].map((word) => streams.endRun('stream', 'run-1', text(word)))
      await Promise.all(ends)
      await streams.endRun('stream', 'run-1', text('e'))
      await streams.endRun('stream', undefined, text('f'))
      equal(wordsOf(await readAll(streams)), ['a', 'b'])
    },
  },
  {
    id: 'stream/end/last-chunk-of-another-run-reaches-no-reader',
    run: async ({ streams }) => {
      await writeAll(await startRun(streams), 'a')
      const writer = await streams.resumeRun('stream', 'run-2', 'agent')
      await streams.endRun('stream', 'run-1', text('late'))
      await streams.endRun('nothing', 'run-1', text('lost'))
      equal(await streams.read('nothing'), null)
      await writeAll(writer, 'b')
      await streams.endRun('stream', 'run-2', text('last'))
      equal(wordsOf(await readAll(streams)), ['a', 'b', 'last'])
    },
  },
]
