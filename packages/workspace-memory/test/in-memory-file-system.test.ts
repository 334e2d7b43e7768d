import { FileSystemError } from '@helix-agents/core'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { array, assert, asyncProperty, constantFrom, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'

const MEGABYTE = 1024 * 1024

function streamOf(...pieces: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)))
}

async function used(fs: InMemoryFileSystem): Promise<number> {
  let bytes = 0
  for (const path of await fs.glob('**')) bytes += (await fs.readFile(path)).length
  return bytes
}

test('any text reads back as its UTF-8, and its size is known', async () => {
  const fs = new InMemoryFileSystem()
  await assert(
    asyncProperty(string({ unit: 'binary', maxLength: 40_000 }), async (text) => {
      const bytes = new TextEncoder().encode(text)
      const { size } = await fs.writeFile('/a', text)
      expect(size).toBe(bytes.length)
      expect(await fs.readFile('/a')).toEqual(bytes)
      expect(await fs.readText('/a')).toBe(text.toWellFormed())
    }),
  )
})

test('half a surrogate pair is U+FFFD in every form', async () => {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'x\uD83D')
  await fs.appendFile('/a', '\uDE00y')
  expect(await fs.readText('/a')).toBe('x\uFFFD\uFFFDy')
  expect(await fs.readFile('/a')).toEqual(new TextEncoder().encode('x\uFFFD\uFFFDy'))
})

test('a long text with pairs on every edge has the right size', async () => {
  const fs = new InMemoryFileSystem()
  for (const text of ['😀'.repeat(20_000), `x${'😀'.repeat(20_000)}`, 'ü'.repeat(40_000)]) {
    const { size } = await fs.writeFile('/a', text)
    expect(size).toBe(new TextEncoder().encode(text).length)
    expect(await fs.readText('/a')).toBe(text)
  }
})

test('usedBytes is the sum of all files after any change', async () => {
  const fs = new InMemoryFileSystem()
  const path = constantFrom('/a', '/d', '/d/b', '/d/e/c', '/f')
  const step = tuple(constantFrom('write', 'append', 'rm', 'copy', 'move', 'stream'), path, path)
  await assert(
    asyncProperty(array(step, { maxLength: 30 }), async (steps) => {
      for (const [action, from, to] of steps) {
        // Some are refused: that must not change the count either.
        await apply(fs, action, [from, to]).catch((error: unknown) =>
          FileSystemError.isInstance(error),
        )
        expect(fs.usedBytes).toBe(await used(fs))
      }
    }),
    { numRuns: 50 },
  )
})

async function apply(
  fs: InMemoryFileSystem,
  action: string,
  [from, to]: readonly [string, string],
): Promise<unknown> {
  if (action === 'write') return fs.writeFile(from, `content of ${to}`)
  if (action === 'append') return fs.appendFile(from, to)
  if (action === 'stream') return fs.writeStream(from, streamOf(to, from))
  if (action === 'rm') return fs.rm(from, { recursive: true })
  return action === 'copy'
    ? fs.copy(from, to, { overwrite: true })
    : fs.move(from, to, { overwrite: true })
}

test('what is over the total limit is refused and changes nothing; shrinking always works', async () => {
  const fs = new InMemoryFileSystem({ maxTotalBytes: 10 })
  await fs.writeFile('/a', '12345')
  const full = { code: 'storage-full' }
  await expect(fs.writeFile('/b/c', '123456')).rejects.toMatchObject(full)
  await expect(fs.appendFile('/a', '123456')).rejects.toMatchObject(full)
  await expect(fs.writeStream('/d', streamOf('123', '456'))).rejects.toMatchObject(full)
  await fs.copy('/a', '/copy')
  await expect(fs.copy('/a', '/more')).rejects.toMatchObject(full)
  expect(await fs.glob('**')).toEqual(['/a', '/copy'])
  fs.limit({ maxTotalBytes: 4 })
  await fs.writeFile('/a', '1234')
  expect(fs.usedBytes).toBe(9)
})

test('a directory that was moved or removed is not found at its old path', async () => {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/d/e/a', 'x')
  await fs.move('/d', '/moved')
  await expect(fs.readFile('/d/e/a')).rejects.toMatchObject({ code: 'not-found' })
  await fs.writeFile('/d/e/b', 'y')
  expect(await fs.glob('**')).toEqual(['/d/e/b', '/moved/e/a'])
  await fs.rm('/d', { recursive: true })
  await expect(fs.stat('/d/e')).rejects.toMatchObject({ code: 'not-found' })
})

test('a search over many files lets other work run', async () => {
  const fs = new InMemoryFileSystem()
  for (let n = 0; n < 40; n++) await fs.writeFile(`/f${n}`, 'a line of text\n'.repeat(20_000))
  let turns = 0
  const count = (): void => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await fs.grep('(o|p)(q|r)')
  clearImmediate(timer)
  expect(turns).toBeGreaterThan(1)
})

test('an abort in the middle of a search ends it', async () => {
  const fs = new InMemoryFileSystem()
  for (let n = 0; n < 40; n++) await fs.writeFile(`/f${n}`, 'a line of text\n'.repeat(20_000))
  const controller = new AbortController()
  const reason = new Error('enough')
  setImmediate(() => controller.abort(reason))
  await expect(fs.grep('(o|p)(q|r)', { signal: controller.signal })).rejects.toBe(reason)
})

test('a full stream is cut off at its source', async () => {
  const fs = new InMemoryFileSystem({ maxFileBytes: MEGABYTE })
  let cancelled = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
    cancel: () => {
      cancelled = true
    },
  })
  await expect(fs.writeStream('/a', endless)).rejects.toMatchObject({ code: 'too-large' })
  expect(cancelled).toBe(true)
})

test('a discarded file system says that it is lost', async () => {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'x')
  fs.discard()
  await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'lost', admitted: 'no' })
  expect(fs.usedBytes).toBe(0)
})

test('`versionPrefix` begins every version', async () => {
  const fs = new InMemoryFileSystem({ versionPrefix: 'other.' })
  const written = await fs.writeFile('/a', 'x')
  expect(written.version).toMatch(/^other\.\d+$/)
  expect((await fs.stat('/a')).version).toBe(written.version)
})
