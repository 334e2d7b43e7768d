import { env } from 'cloudflare:workers'
import type { FileStoreBucket } from '@helix-agents/workspace-cloudflare-filestore'
import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { inObject, openFiles } from './objects.ts'

const sampler = new TestSampler()

const MEGABYTE = 1024 * 1024

/** Bytes that differ from piece to piece and can be told from their place. */
function piece(index: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length).fill(index % 251)
  new DataView(bytes.buffer).setUint32(0, index)
  return bytes
}

/** A stream that makes its pieces when they are asked for. */
function streamOf(first: number, count: number, length: number): ReadableStream<Uint8Array> {
  let index = first
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (index === first + count) return controller.close()
        controller.enqueue(piece(index, length))
        index += 1
      },
    },
    { highWaterMark: 0 },
  )
}

/** Checks a stream piece by piece, however it is cut. */
async function checkStream(stream: ReadableStream<Uint8Array>, length: number): Promise<number> {
  let size = 0
  for await (const part of stream) {
    const index = Math.floor(size / length)
    const place = size % length
    const wanted = piece(index, length)
    const shared = Math.min(part.length, length - place)
    for (let i = 0; i < shared; i += 4_099) {
      if (part[i] !== wanted[place + i]) throw new Error(`byte ${size + i} is wrong`)
    }
    size += part.length
  }
  return size
}

/** What the tests see of a {@link FileStoreBucket}. */
interface WatchedBucket extends FileStoreBucket {
  /** Most bytes of values that were in its hands at once. */
  mostBytes: number
  puts: number
}

/** A bucket that keeps no content: it makes it again from the number of its first piece. */
function forgetfulBucket(length: number): WatchedBucket {
  const first = new Map<string, number>()
  let openBytes = 0
  return {
    mostBytes: 0,
    puts: 0,
    head: async (key) => (first.has(key) ? {} : null),
    async put(key, value) {
      openBytes += value.length
      this.mostBytes = Math.max(this.mostBytes, openBytes)
      this.puts += 1
      first.set(key, new DataView(value.buffer, value.byteOffset).getUint32(0))
      await scheduler.wait(0)
      openBytes -= value.length
    },
    async get(key, options) {
      const { offset = 0, length: wanted = 0 } = options?.range ?? {}
      const index = (first.get(key) ?? 0) + Math.floor(offset / length)
      const body = streamOf(index, Math.ceil((wanted + (offset % length)) / length), length)
      const cut = cutStream(body, offset % length, wanted)
      return { body: cut, arrayBuffer: () => new Response(cut).arrayBuffer() }
    },
    async delete(keys) {
      for (const key of keys) first.delete(key)
    },
  }
}

/** Some bytes of a stream. */
function cutStream(
  source: ReadableStream<Uint8Array>,
  offset: number,
  length: number,
): ReadableStream<Uint8Array> {
  let [skip, left] = [offset, length]
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const kept = chunk.subarray(skip, skip + left)
      skip = Math.max(0, skip - chunk.length)
      left -= kept.length
      if (kept.length > 0) controller.enqueue(kept)
    },
  })
  return source.pipeThrough(cut)
}

/** An isolate has 128 MB. */
const LARGE = sampler.size(1024, 256)

describe('a file far larger than memory', () => {
  test(`goes through in parts: ${LARGE} MiB`, { timeout: 240_000 }, async () => {
    await inObject(async (storage) => {
      const bucket = forgetfulBucket(MEGABYTE)
      const fs = await openFiles(storage, { r2: bucket })
      const count = LARGE
      const stat = await fs.writeStream('/large', streamOf(0, count, MEGABYTE))
      expect(stat.size).toBe(count * MEGABYTE)
      expect(bucket).toMatchObject({ mostBytes: 4 * MEGABYTE, puts: count / 4 })
      expect(storage.sql.databaseSize).toBeLessThan(MEGABYTE)
      expect(await checkStream(await fs.readStream('/large'), MEGABYTE)).toBe(stat.size)
    })
  })

  test('goes to R2 and back', { timeout: 120_000 }, async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, { r2: env.BUCKET })
      const stat = await fs.writeStream('/large', streamOf(0, 65, MEGABYTE))
      expect((await env.BUCKET.list()).objects).toHaveLength(17)
      expect(await checkStream(await fs.readStream('/large'), MEGABYTE)).toBe(stat.size)
      const range = { offset: 60 * MEGABYTE - 2, length: 6 }
      const bytes = await new Response(await fs.readStream('/large', range)).arrayBuffer()
      expect([...new Uint8Array(bytes)]).toEqual([59, 59, 0, 0, 0, 60])
    })
  })

  test('goes to the database without a bucket', { timeout: 120_000 }, async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage)
      const stat = await fs.writeStream('/large', streamOf(0, 100, MEGABYTE))
      expect(await checkStream(await fs.readStream('/large'), MEGABYTE)).toBe(stat.size)
      await expect(fs.readFile('/large')).rejects.toMatchObject({ code: 'too-large' })
    })
  })
})

const setups = [{}, { r2: env.BUCKET, inlineThresholdBytes: 1000 }]

describe.each(setups)('a stream of a file, with the options %j', (setup) => {
  const old = 'old'.repeat(100_000)

  async function startReading(storage: DurableObjectStorage) {
    const fs = await openFiles(storage, setup)
    await fs.writeFile('/d/a', old)
    const reader = (await fs.readStream('/d/a')).getReader()
    const first = await reader.read()
    const rest = async (): Promise<string> => {
      const decoder = new TextDecoder()
      let text = decoder.decode(first.value)
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        text += decoder.decode(next.value)
      }
      return text
    }
    return { fs, reader, rest }
  }

  test.each([
    ['replaced', (fs: FileSystem) => fs.writeFile('/d/a', 'new'.repeat(100_000))],
    [
      'edited',
      (fs: FileSystem) => fs.writeFile('/d/a', `${old.slice(0, 150_000)}!${old.slice(150_000)}`),
    ],
    ['appended to', (fs: FileSystem) => fs.appendFile('/d/a', 'more'.repeat(50_000))],
    ['removed', (fs: FileSystem) => fs.rm('/d', { recursive: true })],
    ['moved', (fs: FileSystem) => fs.move('/d', '/e')],
    [
      'copied and replaced',
      async (fs: FileSystem) => {
        await fs.copy('/d/a', '/b')
        await fs.writeFile('/d/a', 'new')
        await fs.rm('/b')
      },
    ],
  ])('goes on when the file is %s', async (_, change) => {
    await inObject(async (storage) => {
      const { fs, rest } = await startReading(storage)
      await change(fs)
      expect(await rest()).toBe(old)
      expect(storage.sql.exec('SELECT * FROM helix_fs_unlinked').toArray()).toEqual([])
    })
  })

  test('that is cancelled lets go of what it held', async () => {
    await inObject(async (storage) => {
      const { fs, reader } = await startReading(storage)
      await fs.rm('/d/a')
      expect(storage.sql.exec('SELECT * FROM helix_fs_unlinked').toArray()).toHaveLength(1)
      await reader.cancel()
      expect(storage.sql.exec('SELECT * FROM helix_fs_unlinked').toArray()).toEqual([])
      expect(storage.sql.exec('SELECT * FROM helix_fs_blocks').toArray()).toEqual([])
    })
  })

  test('ends with the signal', async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, setup)
      await fs.writeFile('/a', old)
      const controller = new AbortController()
      const stream = await fs.readStream('/a', { signal: controller.signal })
      const reason = new Error('stopped by the test')
      controller.abort(reason)
      await expect(stream.getReader().read()).rejects.toBe(reason)
    })
  })

  test('has every range', async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, setup)
      await fs.writeFile('/a', old)
      await fs.appendFile('/a', 'x'.repeat(70_000))
      const whole = `${old}${'x'.repeat(70_000)}`
      for (const offset of [
        0, 1, 65_535, 65_536, 65_537, 299_999, 300_000, 300_001, 369_999, 370_000,
      ]) {
        for (const length of [0, 1, 2, 70_000]) {
          const text = await new Response(await fs.readStream('/a', { offset, length })).text()
          expect(text === whole.slice(offset, offset + length)).toBe(true)
        }
      }
    })
  })
})

test('an object that is missing in the middle ends the stream with an error', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage, { r2: env.BUCKET, inlineThresholdBytes: 1 })
    await fs.writeFile('/a', 'content of the file')
    for (const { key } of (await env.BUCKET.list()).objects) await env.BUCKET.put(key, 'short')
    await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'content-missing', path: '/a' })
    for (const { key } of (await env.BUCKET.list()).objects) await env.BUCKET.delete(key)
    const reading = new Response(await fs.readStream('/a')).text()
    await expect(reading).rejects.toMatchObject({ code: 'content-missing' })
    await expect(fs.grep('x')).rejects.toMatchObject({ code: 'content-missing' })
    expect((await fs.stat('/a')).size).toBe(19)
  })
})
