import { env } from 'cloudflare:workers'
import { ManualClock } from '@helix-agents/core/testing'
import type {
  FileStoreBucket,
  FileStoreStorage,
} from '@helix-agents/workspace-cloudflare-filestore'
import { describe, expect, test, vi } from 'vitest'
import { asNewIsolate, inObject, openFiles } from '../objects.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const GRACE_MS = 1000

async function openWith(storage: FileStoreStorage, more: ProviderSetup = {}) {
  const clock = new ManualClock()
  const scheduled: number[] = []
  const setup: ProviderSetup = {
    r2: env.BUCKET,
    inlineThresholdBytes: 10,
    collectionGraceMs: GRACE_MS,
    clock,
    scheduleCollection: (atMs) => void scheduled.push(atMs),
    ...more,
  }
  const provider = createProvider(storage, setup)
  const { ws, ref } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  return { provider, ws, ref, fs: ws.fs, clock, scheduled, setup }
}

const keys = async (): Promise<string[]> =>
  (await env.BUCKET.list()).objects.map((object) => object.key)

/** A bucket whose calls can be replaced. */
function bucketWith(calls: Partial<FileStoreBucket>): FileStoreBucket {
  const bucket: FileStoreBucket = env.BUCKET
  return {
    head: (key) => bucket.head(key),
    get: (key, options) => bucket.get(key, options),
    put: (key, value, options) => bucket.put(key, value, options),
    delete: (all) => bucket.delete(all),
    ...calls,
  }
}

describe('what was replaced', () => {
  test('is kept for the grace period, then collected', async () => {
    await inObject(async (storage) => {
      const { fs, provider, clock, scheduled } = await openWith(storage)
      await fs?.writeFile('/a', 'a first long content')
      expect(provider.nextCollectionAt()).toBeUndefined()
      await clock.advance(10_000)
      await fs?.writeFile('/a', 'short')
      const dueAt = clock.now() + GRACE_MS
      expect(provider.nextCollectionAt()).toBe(dueAt)
      expect(scheduled.at(-1)).toBe(dueAt)
      expect(await provider.collect(dueAt - 1)).toMatchObject({ objects: 0, nextAt: dueAt })
      expect(await keys()).toHaveLength(1)
      expect(await provider.collect(dueAt)).toEqual({
        contents: 0,
        objects: 1,
        failed: 0,
        nextAt: undefined,
      })
      expect(await keys()).toEqual([])
    })
  })

  test.each([
    [
      'rm',
      async (fs: NonNullable<Awaited<ReturnType<typeof openWith>>['fs']>) =>
        fs.rm('/d', { recursive: true }),
    ],
    ['append', async (fs) => fs.appendFile('/d/a', 'another long content that is appended')],
    ['move over it', async (fs) => fs.move('/b', '/d/a', { overwrite: true })],
    ['copy over it', async (fs) => fs.copy('/b', '/d/a', { overwrite: true })],
  ] satisfies [
    string,
    (fs: NonNullable<Awaited<ReturnType<typeof openWith>>['fs']>) => Promise<unknown>,
  ][])('by %s leaves no object behind and none missing', async (_, change) => {
    await inObject(async (storage) => {
      const { fs, provider, clock } = await openWith(storage)
      await fs?.writeFile('/d/a', 'a first long content')
      await fs?.writeFile('/b', 'a second long content')
      if (fs !== undefined) await change(fs)
      const before = await readAll(storage)
      await clock.advance(GRACE_MS)
      await provider.collect()
      const [row] = storage.sql.exec('SELECT count(*) AS objects FROM helix_fs_objects').toArray()
      expect(await keys()).toHaveLength(Number(row?.objects))
      expect(await readAll(storage)).toEqual(before)
    })
  })
})

async function readAll(storage: FileStoreStorage): Promise<string[]> {
  const fs = await openFiles(storage, { r2: env.BUCKET })
  const paths = await fs.glob('**')
  return Promise.all(paths.map(async (path) => `${path} ${await fs.readText?.(path)}`))
}

describe('what is in use', () => {
  test('equal contents are one object, which goes with the last of them', async () => {
    await inObject(async (storage) => {
      const { fs, provider, clock } = await openWith(storage)
      await fs?.writeFile('/a', 'one and the same content')
      await fs?.writeFile('/b', 'one and the same content')
      await fs?.copy('/a', '/c')
      expect(await keys()).toHaveLength(1)
      for (const path of ['/a', '/b', '/c']) {
        await clock.advance(GRACE_MS)
        await provider.collect()
        expect(await fs?.readText?.(path)).toBe('one and the same content')
        await fs?.rm(path)
      }
      await clock.advance(GRACE_MS)
      await provider.collect()
      expect(await keys()).toEqual([])
    })
  })

  test('an object under way is not collected, however late', async () => {
    await inObject(async (storage) => {
      const gate = Promise.withResolvers<void>()
      const put = vi.fn<FileStoreBucket['put']>(async (...call) => {
        await env.BUCKET.put(...call)
        await gate.promise
      })
      const { fs, provider, clock } = await openWith(storage, { r2: bucketWith({ put }) })
      const writing = fs?.writeFile('/a', 'a content that is slow to put')
      await vi.waitFor(() => expect(put).toHaveBeenCalledOnce(), { timeout: 60_000 })
      await clock.advance(GRACE_MS * 100)
      expect(await provider.collect()).toMatchObject({ contents: 0, objects: 0 })
      gate.resolve()
      await writing
      expect(await fs?.readText?.('/a')).toBe('a content that is slow to put')
    })
  })

  test('a content that comes back while its object is deleted gets another', async () => {
    await inObject(async (storage) => {
      const gate = Promise.withResolvers<void>()
      const remove = vi.fn<FileStoreBucket['delete']>(async (all) => {
        await gate.promise
        await env.BUCKET.delete(all)
      })
      const { fs, provider, clock } = await openWith(storage, {
        r2: bucketWith({ delete: remove }),
      })
      await fs?.writeFile('/a', 'a content that comes back')
      await fs?.rm('/a')
      await clock.advance(GRACE_MS)
      const collecting = provider.collect()
      await vi.waitFor(() => expect(remove).toHaveBeenCalledOnce(), { timeout: 60_000 })
      await fs?.writeFile('/a', 'a content that comes back')
      gate.resolve()
      expect(await collecting).toMatchObject({ objects: 1, failed: 0 })
      expect(await fs?.readText?.('/a')).toBe('a content that comes back')
      expect(await keys()).toHaveLength(1)
    })
  })

  test('a content whose object vanished is put again', async () => {
    await inObject(async (storage) => {
      const { fs } = await openWith(storage)
      await fs?.writeFile('/a', 'a content that vanishes')
      await env.BUCKET.delete(await keys())
      await expect(fs?.readFile('/a')).rejects.toMatchObject({ code: 'content-missing' })
      await fs?.writeFile('/a', 'a content that vanishes')
      expect(await fs?.readText?.('/a')).toBe('a content that vanishes')
    })
  })
})

describe('what was cut short', () => {
  test('a put that fails leaves the old file and no object', async () => {
    await inObject(async (storage) => {
      const put = vi.fn<FileStoreBucket['put']>()
      put.mockRejectedValueOnce(new Error('internal error (10001)'))
      const { fs, provider, clock } = await openWith(storage, { r2: bucketWith({ put }) })
      await fs?.writeFile('/a', 'old')
      await expect(fs?.writeFile('/a', 'a content that fails')).rejects.toMatchObject({
        code: 'provider-failed',
        transient: true,
      })
      expect(await fs?.readText?.('/a')).toBe('old')
      await clock.advance(GRACE_MS)
      expect(await provider.collect()).toMatchObject({ objects: 1, nextAt: undefined })
    })
  })

  test('a stream that ends with its isolate is collected by the next', async () => {
    await inObject(async (storage) => {
      const { fs } = await openWith(storage)
      const source = new TransformStream<Uint8Array, Uint8Array>()
      const writer = source.writable.getWriter()
      const writing = fs?.writeStream('/a', source.readable)
      await writer.write(new Uint8Array(4 * 1024 * 1024))
      await writer.write(new Uint8Array(1))
      await vi.waitFor(async () => expect(await keys()).toHaveLength(1), { timeout: 60_000 })
      const next = await openWith(asNewIsolate(storage))
      await next.clock.advance(10 * GRACE_MS)
      expect(next.provider.nextCollectionAt()).toBe(0)
      const first = await next.provider.collect()
      expect(first).toMatchObject({ contents: 1, objects: 0 })
      await next.clock.advance(GRACE_MS)
      expect(await next.provider.collect()).toMatchObject({ objects: 1, nextAt: undefined })
      expect(await keys()).toEqual([])
      await writer.abort(new Error('the isolate is gone'))
      await writing?.catch(() => undefined)
    })
  })

  test('a delete that fails stays owed', async () => {
    await inObject(async (storage) => {
      const failing = vi.fn<FileStoreBucket['delete']>((all) => env.BUCKET.delete(all))
      failing.mockRejectedValueOnce(new Error('internal error (10001)'))
      const { fs, provider, clock } = await openWith(storage, {
        r2: bucketWith({ delete: failing }),
      })
      await fs?.writeFile('/a', 'a content to be removed')
      await fs?.rm('/a')
      await clock.advance(GRACE_MS)
      const report = await provider.collect()
      expect(report).toMatchObject({ objects: 0, failed: 1 })
      await clock.advance(Number(report.nextAt) - clock.now())
      expect(await provider.collect()).toMatchObject({ objects: 1, failed: 0, nextAt: undefined })
      expect(await keys()).toEqual([])
    })
  })

  test('collections at once are one', async () => {
    await inObject(async (storage) => {
      const { fs, provider, clock } = await openWith(storage)
      await fs?.writeFile('/a', 'a content to be removed')
      await fs?.rm('/a')
      await clock.advance(GRACE_MS)
      const [first, second] = await Promise.all([provider.collect(), provider.collect()])
      expect(first).toEqual(second)
      expect(first.objects).toBe(1)
    })
  })
})

test('a closed workspace leaves its objects to the collector', async () => {
  await inObject(async (storage) => {
    const { fs, ws, provider, clock } = await openWith(storage)
    await fs?.writeFile('/d/a', 'a content to be removed')
    await ws.close()
    expect(storage.sql.exec('SELECT * FROM helix_fs_nodes').toArray()).toEqual([])
    expect(storage.sql.exec('SELECT * FROM helix_fs_blocks').toArray()).toEqual([])
    await clock.advance(GRACE_MS)
    await provider.collect()
    expect(await keys()).toEqual([])
    expect(storage.sql.exec('SELECT * FROM helix_fs_objects').toArray()).toEqual([])
  })
})

test('a new database has nothing to collect', async () => {
  await inObject(async (storage) => {
    const provider = createProvider(storage, { r2: env.BUCKET })
    expect(provider.nextCollectionAt()).toBeUndefined()
    expect(await provider.collect()).toMatchObject({ contents: 0, objects: 0, nextAt: undefined })
  })
})
