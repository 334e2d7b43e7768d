import { describe, expect, test } from 'vitest'
import type { FileSystem } from '../../../../src/modules/fs/contract.ts'
import {
  MAX_COUNTED_BYTES,
  MAX_SCANNED_BYTES,
  readPage,
} from '../../../../src/modules/fs/text/read-page.ts'

const MB = 1_048_576

test('lines are counted up to 64 MiB, and looked for up to 1 GiB', () => {
  expect([MAX_COUNTED_BYTES, MAX_SCANNED_BYTES]).toEqual([64 * MB, 1024 * MB])
})

const signal = new AbortController().signal
const request = { offset: 1, column: 1, limit: 1, maxCharacters: 30_000 }

/** A file of any size that repeats one piece; counts what is read of it. */
function endlessFile(size: number, piece: string) {
  const chunk = new TextEncoder().encode(piece.repeat(Math.ceil(MB / piece.length)))
  let readBytes = 0
  const readStream = async (): Promise<ReadableStream<Uint8Array>> =>
    new ReadableStream(
      {
        pull(controller) {
          if (readBytes >= size) return controller.close()
          controller.enqueue(chunk)
          readBytes += chunk.byteLength
        },
      },
      { highWaterMark: 0 },
    )
  const stat = { path: '/a', type: 'file', size, mtime: new Date(0), version: '1' } as const
  const source = {
    fs: { readStream } as unknown as FileSystem,
    stat,
    maxFileBytes: 10 * MB,
    signal,
  }
  return { source, bytes: () => readBytes }
}

describe('a page of an enormous file', () => {
  test('is all that is read of it', async () => {
    const file = endlessFile(8192 * MB, 'line\n')
    const page = await readPage(file.source, request)
    expect(page).toMatchObject({ content: 'line\n', firstLine: 1, lastLine: 1, isPartial: true })
    expect(page?.next).toEqual({ offset: 2 })
    expect(page?.totalLines).toBeGreaterThanOrEqual(2)
    expect(file.bytes()).toBeLessThan(4 * MB)
  })

  test('of one line goes on within it', async () => {
    const file = endlessFile(8192 * MB, 'x')
    const page = await readPage(file.source, { ...request, column: 5_000_000 })
    expect(page?.content.length).toBeGreaterThan(29_000)
    expect(page?.next).toEqual({ offset: 1, column: 5_000_000 + (page?.content.length ?? 0) })
    expect(file.bytes()).toBeLessThan(8 * MB)
  })

  test('is not looked for without end', async () => {
    const file = endlessFile(8192 * MB, `${'x'.repeat(65_535)}\n`)
    const page = await readPage(file.source, { ...request, offset: 1_000_000 })
    expect(page).toMatchObject({ content: '', firstLine: 0, isPartial: true })
    expect(file.bytes()).toBeLessThanOrEqual(MAX_SCANNED_BYTES + MB)
  })

  test('of zeros is binary by its first bytes', async () => {
    const file = endlessFile(8192 * MB, '\0')
    expect(await readPage(file.source, request)).toBeUndefined()
    expect(file.bytes()).toBeLessThan(4 * MB)
  })
})

test('lines are counted up to a size', async () => {
  const file = endlessFile(MAX_COUNTED_BYTES, `${'x'.repeat(1023)}\n`)
  const page = await readPage(file.source, request)
  expect(page?.isPartial).toBeUndefined()
  expect(page?.totalLines).toBe(65_536)
})

test('an abort ends it between two pieces', async () => {
  const controller = new AbortController()
  const file = endlessFile(8192 * MB, '\n')
  const source = { ...file.source, signal: controller.signal }
  const pending = readPage(source, { ...request, offset: 2_000_000_000 })
  controller.abort(new Error('stop'))
  await expect(pending).rejects.toThrow('stop')
})

/** A file of these pieces, too large to be read whole. */
function piecesFile(...pieces: readonly string[]) {
  const chunks = pieces.map((piece) => new TextEncoder().encode(piece))
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  const readStream = async () => ReadableStream.from(chunks)
  const stat = { path: '/a', type: 'file', size, mtime: new Date(0), version: '1' } as const
  return { fs: { readStream } as unknown as FileSystem, stat, maxFileBytes: 1, signal }
}

test.each([
  ['at the end of the first 8,192 characters', 8191, false],
  ['behind them', 8192, true],
])('a NUL %s, in whichever piece', async (_, at, isText) => {
  const text = `line\n${'x'.repeat(at - 5)}\0${'y'.repeat(20_000)}`
  for (const first of [100, 8000, 8192, 10_000]) {
    const found = await readPage(piecesFile(text.slice(0, first), text.slice(first)), request)
    expect([first, found?.content]).toEqual([first, isText ? 'line\n' : undefined])
  }
})
