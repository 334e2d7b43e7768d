// Writers in processes that are killed, and a reader that stays.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { opened } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { openReader, readAll, text, wordsOf } from './script.ts'

const SCRIPT = join(import.meta.dirname, 'writer-child.ts')
const options = { streams: { maxBufferedChunks: 1_000_000 } }

/** A process that writes; resolves when it has begun to. */
async function startWriter(...task: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--conditions=@helix-agents/source', SCRIPT, ...task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  })
  await Promise.race([once(child.stdout, 'data'), exited])
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Reads on until a condition holds. */
class Follower {
  readonly chunks: SequencedChunk[] = []
  readonly #reader: AsyncIterator<SequencedChunk, undefined>

  constructor(reader: AsyncIterator<SequencedChunk, undefined>) {
    this.#reader = reader
  }

  async readUntil(enough: (chunk: SequencedChunk) => boolean): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.next()
      if (done) return
      this.chunks.push(value)
      if (enough(value)) return
    }
  }
}

function sequencesOf(chunks: readonly SequencedChunk[]): number[] {
  return chunks.map((chunk) => chunk.sequence)
}

/** The words of each writer go on from 0 without a gap. */
function expectWhole(chunks: readonly SequencedChunk[]): void {
  const first = chunks[0]?.sequence ?? 0
  expect(sequencesOf(chunks)).toEqual(chunks.map((_, index) => first + index))
  const written = new Map<string, number>()
  for (const word of wordsOf(chunks)) {
    const [label = '', number] = word.split(' ')
    const next = written.get(label) ?? 0
    expect(Number(number)).toBe(next)
    written.set(label, next + 1)
  }
}

test(
  'a reader sees no gap and no double while writers are killed',
  { timeout: 120_000 },
  async () => {
    const path = join(temporaryDirectory(), 'helix.db')
    const { streamManager } = await opened(path, options)
    const first = await startWriter(path, 'start', 'w0')
    const follower = new Follower(await openReader(streamManager))
    let child = first
    for (let round = 1; round <= 4; round++) {
      const goal = follower.chunks.length + 50 * round + round
      await follower.readUntil(() => follower.chunks.length >= goal)
      await kill(child)
      child = await startWriter(path, 'resume', `w${round}`, ...(round === 4 ? ['500'] : []))
    }
    await follower.readUntil(() => false)
    expectWhole(follower.chunks)
    expect(wordsOf(follower.chunks).at(-1)).toBe('w4 499')
    expect(await readAll(streamManager)).toEqual(follower.chunks)
  },
)

test('what a killed writer left is there for the next process', { timeout: 120_000 }, async () => {
  const path = join(temporaryDirectory(), 'helix.db')
  const stores = await openSqliteStores(path, options)
  const child = await startWriter(path, 'start', 'w0')
  const follower = new Follower(await openReader(stores.streamManager))
  await follower.readUntil(() => follower.chunks.length >= 300)
  await kill(child)
  await stores.close()

  const { streamManager } = await opened(path, options)
  const position = follower.chunks.at(-1)!.sequence + 1
  const writer = await streamManager.resumeRun('s', 'w1', 'a')
  await writer.write(text('w1 0'))
  await streamManager.endRun('s')
  const rest = await readAll(streamManager, { fromSequence: position })
  expectWhole([...follower.chunks, ...rest])
  expect(wordsOf(rest).at(-1)).toBe('w1 0')
})

test(
  'a reader of a killed writer waits for the next one, or until it is told to stop',
  {
    timeout: 60_000,
  },
  async () => {
    const path = join(temporaryDirectory(), 'helix.db')
    const { streamManager } = await opened(path, options)
    const child = await startWriter(path, 'start', 'w0')
    const stop = new AbortController()
    const follower = new Follower(await openReader(streamManager, { signal: stop.signal }))
    await follower.readUntil(() => true)
    await kill(child)
    const other = await opened(path, options)
    const writer = await other.streamManager.resumeRun('s', 'w1', 'a')
    const until = (word: string) => follower.readUntil((chunk) => wordsOf([chunk])[0] === word)
    const resumed = until('w1 0')
    await writer.write(text('w1 0'))
    await resumed
    expectWhole(follower.chunks)

    const restarted = until('new-run')
    await other.streamManager.startRun('s', 'w2', 'a')
    await restarted
    const seen = follower.chunks.length
    const aborted = follower.readUntil(() => true)
    stop.abort()
    await aborted
    expect(follower.chunks.length).toBe(seen)
  },
)

test('a reader does not keep its process alive', { timeout: 120_000 }, async () => {
  const path = join(temporaryDirectory(), 'helix.db')
  const { streamManager } = await opened(path)
  await streamManager.startRun('s', 'r', 'a')
  const program = `
    import { openSqliteStores } from '@helix-agents/store-sqlite'
    const { streamManager } = await openSqliteStores(${JSON.stringify(path)})
    const reader = (await streamManager.read('s'))[Symbol.asyncIterator]()
    reader.next().then(() => process.stdout.write('ended'))
    process.stdout.write('waits')`
  const child = spawn(
    process.execPath,
    ['--conditions=@helix-agents/source', '--input-type=module', '--eval', program],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const printed: string[] = []
  child.stdout.on('data', (data: Buffer) => printed.push(data.toString()))
  const [code] = await once(child, 'exit')
  expect([code, printed.join('')]).toEqual([0, 'waits'])
})
