// Each limit one below, at, and one above it. Some of them no local workerd enforces.
import { env } from 'cloudflare:workers'
import { type FileSystem, fileSystemConfigSchema } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { inObject, openFiles } from './objects.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const

async function filesOf(
  storage: DurableObjectStorage,
  setup: Parameters<typeof createProvider>[1],
  maxFileSizeMb: number,
): Promise<FileSystem> {
  const capabilities = { fs: fileSystemConfigSchema.parse({ maxFileSizeMb }) }
  const { ws } = await createProvider(storage, setup).open(
    config,
    session,
    openOptions({ capabilities }),
  )
  return ws.fs as FileSystem
}

describe('the inline threshold', () => {
  const threshold = 1000
  test.each([
    [threshold - 1, 0],
    [threshold, 0],
    [threshold + 1, 1],
  ])('a file of %i bytes has %i objects', async (size, objects) => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, { r2: env.BUCKET, inlineThresholdBytes: threshold })
      await fs.writeFile('/a', new Uint8Array(size).fill(7))
      expect((await env.BUCKET.list()).objects).toHaveLength(objects)
      expect(await fs.readFile('/a')).toEqual(new Uint8Array(size).fill(7))
    })
  })
})

describe('values of the database', () => {
  test.each([65_535, 65_536, 65_537, 131_072, 131_073, 1_999_999, 2_000_000, 2_000_001])(
    'a file of %i bytes has no value near 2 MB',
    async (size) => {
      await inObject(async (storage) => {
        const fs = await openFiles(storage)
        const text = 'ab水'.repeat(Math.ceil(size / 5)).slice(0, size)
        await fs.writeFile('/a', text)
        await fs.writeFile('/a', `+${text}`)
        await fs.appendFile('/a', text)
        const [row] = storage.sql
          .exec('SELECT max(length(data)) AS most FROM helix_fs_blocks')
          .toArray()
        expect(row?.most).toBeLessThanOrEqual(131_072)
        expect(await fs.readText?.('/a')).toBe(`+${text}${text}`)
      })
    },
  )
})

describe('quotas', () => {
  test('bytes', async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, { maxBytes: 100 })
      await fs.writeFile('/a', 'x'.repeat(99))
      await fs.writeFile('/a', 'x'.repeat(100))
      await expect(fs.writeFile('/a', 'x'.repeat(101))).rejects.toMatchObject({
        code: 'storage-full',
      })
      await expect(fs.appendFile('/a', 'x')).rejects.toMatchObject({ code: 'storage-full' })
      await expect(fs.copy('/a', '/b')).rejects.toMatchObject({ code: 'storage-full' })
      const source = new Blob(['x'.repeat(101)]).stream()
      await expect(fs.writeStream('/a', source)).rejects.toMatchObject({ code: 'storage-full' })
      await fs.writeFile('/a', 'x'.repeat(50))
      await fs.copy('/a', '/b')
      expect((await fs.stat('/b')).size).toBe(50)
    })
  })

  test('files and directories', async () => {
    await inObject(async (storage) => {
      const fs = await openFiles(storage, { maxFiles: 3 })
      await fs.writeFile('/d/a', 'x')
      const full = { code: 'storage-full' }
      await expect(fs.writeFile('/d/e/b', 'x')).rejects.toMatchObject(full)
      await expect(fs.mkdir('/e/f', { recursive: true })).rejects.toMatchObject(full)
      await expect(fs.copy('/d', '/e')).rejects.toMatchObject(full)
      await fs.writeFile('/d/b', 'x')
      await expect(fs.writeFile('/c', '')).rejects.toMatchObject(full)
      await fs.writeFile('/d/b', 'still allowed')
      await fs.move('/d/b', '/b')
      await expect(fs.move('/b', '/e/b')).rejects.toMatchObject(full)
      await fs.rm('/d/a')
      await fs.move('/b', '/e/b')
    })
  })

  test('too much to stream is refused before anything is put', async () => {
    await inObject(async (storage) => {
      const setup = { r2: env.BUCKET, inlineThresholdBytes: 10, maxBytes: 1000 }
      const fs = await openFiles(storage, setup)
      await expect(fs.writeFile('/a', 'x'.repeat(1001))).rejects.toMatchObject({
        code: 'storage-full',
      })
      expect((await env.BUCKET.list()).objects).toEqual([])
    })
  })
})

test('one file, on every way that makes it larger', async () => {
  await inObject(async (storage) => {
    const fs = await filesOf(storage, {}, 1)
    const limit = 1024 * 1024
    await fs.writeFile('/a', new Uint8Array(limit - 1))
    await fs.appendFile('/a', 'x')
    const large = { code: 'too-large' }
    await expect(fs.appendFile('/a', 'x')).rejects.toMatchObject(large)
    await expect(fs.writeFile('/a', 'x'.repeat(limit + 1))).rejects.toMatchObject(large)
    const wide = await filesOf(storage, {}, 2)
    await wide.writeFile('/d/wide', new Uint8Array(limit + 1))
    await expect(fs.copy('/d/wide', '/b')).rejects.toMatchObject(large)
    await expect(fs.copy('/d', '/e')).rejects.toMatchObject(large)
    // What is there already may be moved, and may shrink.
    await fs.move('/d/wide', '/wide')
    await fs.writeFile('/wide', new Uint8Array(limit))
  })
})

test('reading at once', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage, { maxWholeReadBytes: 100 })
    for (const size of [99, 100]) {
      await fs.writeFile('/a', new Uint8Array(size))
      expect((await fs.readFile('/a')).length).toBe(size)
    }
    await fs.writeFile('/a', new Uint8Array(101).fill(65))
    await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'too-large' })
    await expect(fs.readText?.('/a')).rejects.toMatchObject({ code: 'too-large' })
    expect((await new Response(await fs.readStream('/a')).arrayBuffer()).byteLength).toBe(101)
    expect((await fs.grep('A')).skippedPaths).toEqual(['/a'])
  })
})

test('paths, also below a directory that moves', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    const deep = `/${`${'n'.repeat(255)}/`.repeat(15)}`
    const rest = 4096 - deep.length - 2
    await fs.writeFile(`${deep}/${'x'.repeat(rest + 1)}`, 'x')
    const top = `/${'n'.repeat(255)}`
    const longer = `/${'水'.repeat(85)}`
    await fs.move(top, longer)
    await expect(fs.move(longer, `/d${longer}`)).rejects.toMatchObject({ code: 'invalid-path' })
    await expect(fs.copy(longer, `/d${longer}`)).rejects.toMatchObject({ code: 'invalid-path' })
    expect(await fs.glob('**')).toHaveLength(1)
  })
})

describe('keys in the bucket', () => {
  test.each([905, 906])('a prefix of %i bytes fits', async (length) => {
    await inObject(async (storage) => {
      const r2Prefix = 'p'.repeat(length)
      const fs = await openFiles(storage, { r2: env.BUCKET, r2Prefix, inlineThresholdBytes: 1 })
      await fs.writeFile('/a', 'content')
      const [object] = (await env.BUCKET.list()).objects
      expect(object?.key.length).toBeLessThanOrEqual(1024)
      expect(object?.key.startsWith(`${r2Prefix}/fs-`)).toBe(true)
    })
  })

  test.each(['p'.repeat(907), '水'.repeat(303), '', '/a', 'a/', '\uD800'])(
    'the prefix %j is refused',
    async (r2Prefix) => {
      await inObject(async (storage) => {
        const create = () => createProvider(storage, { r2Prefix })
        expect(create).toThrowError(expect.objectContaining({ code: 'config-invalid' }))
      })
    },
  )
})

test.each([
  { inlineThresholdBytes: 32 * 1024 * 1024 + 1 },
  { inlineThresholdBytes: -1 },
  { partBytes: 32 * 1024 * 1024 + 1 },
  { partBytes: 0 },
  { partBytes: 1.5 },
  { maxBytes: Number.NaN },
  { maxFiles: -1 },
  { maxSnapshots: 0 },
  { maxGlobalConcurrentOpens: 0 },
])('the options %j are refused', async (setup) => {
  await inObject(async (storage) => {
    const create = () => createProvider(storage, setup)
    expect(create).toThrowError(expect.objectContaining({ code: 'config-invalid' }))
  })
})
