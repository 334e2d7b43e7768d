// The streams on disk against those in memory, and against a database that is closed in between.
import { join } from 'node:path'
import type { StreamManager, StreamWriter } from '@helix-agents/core/runtime'
import { TestSampler } from '@helix-agents/core/testing'
import { migrate, SqlStreamManager } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../temporary-directory.ts'
import { openReader, type Reader, settled, text } from './script.ts'

const sampler = new TestSampler()

type Action =
  | { readonly type: 'write'; readonly writer: number; readonly count: number }
  | { readonly type: 'start' | 'resume'; readonly run: string }
  | { readonly type: 'end'; readonly run: string | undefined; readonly hasLast: boolean }
  | { readonly type: 'read'; readonly from: number | undefined }
  | { readonly type: 'next'; readonly reader: number }
  | { readonly type: 'delete' | 'reopen' }

/**
 * Also the longest burst: in memory a reader that waits is given each chunk as it is written, on
 * disk it sees a burst when it is committed, and may have missed its beginning.
 */
const BUFFERED = 5

const run = fc.constantFrom('r1', 'r2', 'r3')
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('write' as const),
      writer: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.nat(3) },
      ),
      count: fc.integer({ min: 1, max: BUFFERED }),
    }),
  },
  { weight: 12, arbitrary: fc.record({ type: fc.constant('next' as const), reader: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('read' as const),
      from: fc.option(fc.integer({ min: -1, max: 40 }), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('start' as const, 'resume' as const), run }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      run: fc.option(run, { nil: undefined }),
      hasLast: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ type: 'delete' as const }, { type: 'reopen' as const }),
  },
)

const options = { maxBufferedChunks: BUFFERED }

/** Runs the same actions on one stream of one manager; says what its readers got. */
class Side {
  streams: StreamManager
  /** The newest first. */
  writers: StreamWriter[] = []
  readers: {
    reader: Reader
    from: number | undefined
    got: unknown[]
    ended: boolean
    failed: boolean
  }[] = []
  #written = 0

  constructor(streams: StreamManager) {
    this.streams = streams
  }

  async act(one: Action): Promise<void> {
    if (one.type === 'write') await this.#write(one.writer, one.count)
    else if (one.type === 'start')
      this.writers.unshift(await this.streams.startRun('s', one.run, 'a'))
    else if (one.type === 'resume')
      this.writers.unshift(await this.streams.resumeRun('s', one.run, 'a'))
    else if (one.type === 'end') await this.#endRun(one.run, one.hasLast)
    else if (one.type === 'delete') await this.#delete()
    else if (one.type === 'read') await this.read(one.from)
    else if (one.type === 'next') this.#next(one.reader)
  }

  async read(from: number | undefined): Promise<void> {
    const chunks = await this.streams.read('s', from === undefined ? {} : { fromSequence: from })
    if (chunks === null) return
    const reader = chunks[Symbol.asyncIterator]() as Reader
    this.readers.push({ reader, from, got: [], ended: false, failed: false })
  }

  /** As after a restart: writers are gone, readers come back to where they were. */
  async reopened(streams: StreamManager): Promise<void> {
    const before = this.readers
    this.streams = streams
    this.writers = []
    this.readers = []
    for (const { from, got, ended } of before) {
      const last = got.findLast((one): one is { sequence: number } => one !== 'end')
      if (!ended) await this.read(last === undefined ? from : last.sequence + 1)
    }
  }

  /** Readers that wait must end; in memory, the others may read what they still hold. */
  async #delete(): Promise<void> {
    await this.streams.deleteStream('s')
    await settled()
    for (const one of this.readers) {
      if (!one.ended) await one.reader.return?.()
      one.ended = true
    }
  }

  async #write(index: number, count: number): Promise<void> {
    const writer = this.writers[index]
    if (writer === undefined) return
    const chunks = Array.from({ length: count }, () => text(`${this.#written}`, this.#written++))
    await Promise.all(chunks.map((chunk) => writer.write(chunk)))
  }

  async #endRun(runId: string | undefined, hasLast: boolean): Promise<void> {
    const last = hasLast ? text(`last ${this.#written}`, this.#written++) : undefined
    await this.streams.endRun('s', runId, last)
  }

  #next(index: number): void {
    const one = this.readers[index]
    if (one === undefined) return
    const keep = ({ done, value }: IteratorResult<unknown>): void => {
      if (one.failed) return
      one.ended ||= done === true
      one.got.push(done ? 'end' : value)
    }
    // A reader of a file that was closed fails and is over; `reopened` makes another one.
    one.reader.next().then(keep, () => {
      one.failed = true
    })
  }
}

async function openManager(path: string) {
  const database = await SqliteDatabase.open(path)
  await migrate(database, { now: 1 })
  return { database, streams: new SqlStreamManager(database, options) }
}

test('readers of a file get what readers in memory get', { timeout: 120_000 }, async () => {
  const directory = temporaryDirectory()
  let files = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const path = join(directory, `${files++}.db`)
      let opened = await openManager(path)
      const [memory, file] = [
        new Side(new InMemoryStreamManager(options)),
        new Side(opened.streams),
      ]
      try {
        for (const one of [{ type: 'start', run: 'r1' } as const, ...actions]) {
          if (one.type === 'reopen') {
            await opened.database.close()
            opened = await openManager(path)
            await file.reopened(opened.streams)
            await memory.reopened(memory.streams)
          }
          await memory.act(one)
          await file.act(one)
          await settled()
          expect(file.readers.map(({ got }) => got)).toEqual(memory.readers.map(({ got }) => got))
        }
      } finally {
        await opened.database.close()
      }
    }),
    { numRuns: sampler.size(300, 60), seed: sampler.seedOf('streams') },
  )
})

test('a reader that comes back after each chunk gets each one once', async () => {
  const path = join(temporaryDirectory(), 'helix.db')
  let opened = await openManager(path)
  const writer = await opened.streams.startRun('s', 'r', 'a')
  for (let i = 0; i < 5; i++) await writer.write(text(`${i}`))
  let fromSequence = 1
  for (let i = 0; i < 5; i++) {
    const { value } = await (await openReader(opened.streams, { fromSequence })).next()
    expect(value).toEqual({ ...text(`${i}`), sequence: fromSequence++ })
    await opened.database.close()
    opened = await openManager(path)
  }
  await opened.database.close()
})
