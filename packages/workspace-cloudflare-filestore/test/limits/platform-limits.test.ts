// What production refuses and local workerd accepts, refused here as well: a database and a bucket
// with the documented limits, under work that comes near each of them.
import { env } from 'cloudflare:workers'
import type { FileSystem } from '@helix-agents/core/provider'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import type { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { describe, expect, test } from 'vitest'
import { inObject } from '../objects.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'
import { rowsTooLarge, strictBucket, strictStorage } from './strict-platform.ts'

const sampler = new TestSampler()

interface Strict {
  readonly fs: FileSystem
  readonly provider: CloudflareFileStoreWorkspaceProvider
  readonly clock: ManualClock
  readonly storage: DurableObjectStorage
}

function strictly(setup: ProviderSetup, work: (strict: Strict) => Promise<void>): Promise<void> {
  return inObject(async (storage) => {
    const clock = new ManualClock()
    const provider = createProvider(strictStorage(storage), {
      clock,
      r2: strictBucket(env.BUCKET, () => clock.now()),
      ...setup,
    })
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    await work({ fs: ws.fs as FileSystem, provider, clock, storage })
    expect(rowsTooLarge(storage)).toEqual([])
  })
}

const LIMIT = 2_000_000
const bytes = (length: number, value = 7): Uint8Array => new Uint8Array(length).fill(value)

describe('values and rows of 2 MB', () => {
  const around = sampler.pick('sizes', [LIMIT - 1, LIMIT, LIMIT + 1], 1)
  test.each(around)('files of %i bytes', async (size) => {
    await strictly({}, async ({ fs }) => {
      await fs.writeFile('/bytes', bytes(size))
      await fs.writeFile('/text', `${'水'.repeat(size / 3)}${'x'.repeat(size % 3)}`)
      for (const path of ['/bytes', '/text']) {
        expect((await fs.readFile(path)).length).toBe(size)
        await fs.appendFile(path, bytes(size))
        await fs.writeFile(path, bytes(size + 1, 8))
        await fs.copy(path, '/copy', { overwrite: true })
        await fs.appendFile('/copy', 'the end')
        expect((await fs.readFile('/copy')).length).toBe(size + 8)
      }
      expect((await fs.grep('水the end')).matches).toEqual([])
      expect((await fs.readText?.('/bytes'))?.length).toBe(size + 1)
    })
  })

  test('the longest pattern, on the seam of two blocks', async () => {
    await strictly({}, async ({ fs }) => {
      const literal = 'x'.repeat(1000)
      await fs.writeFile('/a', `${'-'.repeat(65_000)}${literal}\n`)
      expect((await fs.grep(literal)).matches).toHaveLength(1)
      await fs.writeFile('/a', `${'-'.repeat(65_000)}${literal.slice(1)}\n`)
      expect((await fs.grep(literal)).matches).toEqual([])
    })
  })

  test('a page of the longest paths', async () => {
    await strictly({}, async ({ fs }) => {
      const deep = `/${`${'n'.repeat(255)}/`.repeat(15)}`
      const nameOf = (index: number): string =>
        `${index}`.padStart(4, '0') + '水'.repeat(Math.floor((4096 - deep.length - 4) / 3))
      for (let i = 0; i < 480; i++) await fs.writeFile(deep + nameOf(i), '')
      expect(await fs.glob('**')).toHaveLength(480)
      expect((await fs.grep('x', { path: '/' })).matches).toEqual([])
      await fs.move(`/${'n'.repeat(255)}`, `/${'m'.repeat(255)}`)
      await fs.copy(`/${'m'.repeat(255)}`, `/${'o'.repeat(255)}`)
      expect(await fs.glob('**')).toHaveLength(960)
      await fs.rm(`/${'m'.repeat(255)}`, { recursive: true })
    })
  })
})

describe('bound parameters', () => {
  test.each([89, 90, 91, 99, 100, 101, 257])('a search in %i files', async (count) => {
    await strictly({}, async ({ fs }) => {
      for (let i = 0; i < count; i++) await fs.writeFile(`/f${i}`, `needle ${i}`)
      expect((await fs.grep('needle', { maxResults: 1000 })).matches).toHaveLength(count)
      expect((await fs.grep('need.e', { maxResults: 1000 })).matches).toHaveLength(count)
      expect(await fs.glob('f*')).toHaveLength(count)
    })
  })

  test(
    'more than a hundred streams are open while their files go',
    { timeout: 90_000 },
    async () => {
      await strictly({ inlineThresholdBytes: 10 }, async ({ fs, provider, clock }) => {
        const readers: ReadableStreamDefaultReader<Uint8Array>[] = []
        for (let i = 0; i < 150; i++) {
          await fs.writeFile(`/d/f${i}`, `the content number ${i}`)
          readers.push((await fs.readStream(`/d/f${i}`)).getReader())
        }
        await fs.rm('/d', { recursive: true })
        await clock.advance(3_600_000)
        expect(await provider.collect()).toMatchObject({ contents: 0, objects: 0 })
        for (const [i, reader] of readers.entries()) {
          const { value } = await reader.read()
          expect(new TextDecoder().decode(value)).toBe(`the content number ${i}`)
          await reader.cancel()
        }
        await clock.advance(3_600_000)
        expect(await provider.collect()).toMatchObject({ objects: 150, nextAt: undefined })
      })
    },
  )
})

describe('the bucket', () => {
  test('more objects than one delete takes', { timeout: 240_000 }, async () => {
    const count = sampler.size(1001, 501)
    await strictly({ inlineThresholdBytes: 1 }, async ({ fs, provider, clock }) => {
      for (let i = 0; i < count; i++) await fs.writeFile(`/d/f${i}`, `content ${i}`)
      await fs.rm('/d', { recursive: true })
      await clock.advance(3_600_000)
      expect(await provider.collect()).toMatchObject({ objects: count, failed: 0 })
      expect((await env.BUCKET.list()).objects).toEqual([])
    })
  })

  test('many rewrites within a second never put one key twice', async () => {
    await strictly({ inlineThresholdBytes: 10 }, async ({ fs }) => {
      const contents = ['the first content', 'the second content', 'the first content']
      for (let i = 0; i < 30; i++) await fs.writeFile('/a', contents[i % 3]!)
      await Promise.all(contents.map((content, i) => fs.writeFile(`/d/${i}`, content)))
      for (let i = 0; i < 30; i++) await fs.appendFile('/a', 'one more piece')
      await fs.writeFile('/a', 'the second content')
      expect(await fs.readText?.('/a')).toBe('the second content')
    })
  })
})
