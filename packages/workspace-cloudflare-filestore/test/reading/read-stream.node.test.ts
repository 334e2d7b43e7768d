// A stream of a file: its range, what holds it, and how it ends: in Node, over its SQLite.
import type { FileSystem, ReadStreamOptions } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

/** Objects whose readers let go of them slowly, and that may be cut short. */
class SlowBucket extends MapBucket {
  readonly cancelled: unknown[] = []
  missingBytes = 0

  override async get(...call: Parameters<MapBucket['get']>) {
    const found = await super.get(...call)
    if (found === null) return null
    const all = new Uint8Array(await found.arrayBuffer())
    const bytes = all.slice(0, all.length - this.missingBytes)
    const pieces = [bytes.subarray(0, 2), bytes.subarray(2)].filter(({ length }) => length > 0)
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: (controller) => {
          const piece = pieces.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        },
        cancel: async (reason) => {
          await new Promise((resolve) => setTimeout(resolve))
          this.cancelled.push(reason)
        },
      },
      { highWaterMark: 0 },
    )
    return { body, arrayBuffer: async () => bytes.buffer }
  }
}

const text = 'abcdefghijklmnop'

async function open(setup: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const provider = createProvider(storage, setup)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  await fs.writeFile('/a', text)
  const read = async (options?: ReadStreamOptions) =>
    new Response(await fs.readStream('/a', options)).text()
  const rows = (table: string) =>
    storage.sql.exec(`SELECT * FROM helix_fs_${table}`).toArray().length
  return { storage, fs, read, rows, provider }
}

const inBucket = (r2 = new SlowBucket()) => ({ r2, inlineThresholdBytes: 3, partBytes: 5 })

describe.each<readonly [string, () => ProviderSetup]>([
  ['the database', () => ({})],
  ['the bucket', inBucket],
])('a file in %s', (_, setup) => {
  test('has every range', async () => {
    const { read } = await open(setup())
    for (const offset of [undefined, -1, 0, 1, 4, 5, 6, 15, 16, 17]) {
      for (const length of [undefined, 0, 1, 4, 5, 6, 16, 100]) {
        const start = Math.max(0, offset ?? 0)
        const options = {
          ...(offset !== undefined && { offset }),
          ...(length !== undefined && { length }),
        }
        const expected = text.slice(start, start + (length ?? text.length))
        expect([offset, length, await read(options)]).toEqual([offset, length, expected])
      }
    }
  })

  test('is held until its stream has ended, however it ends', async () => {
    for (const end of [
      (stream: ReadableStream) => new Response(stream).text(),
      (stream: ReadableStream) => stream.cancel('enough'),
    ]) {
      const { fs, rows, storage } = await open(setup())
      const stream = await fs.readStream('/a')
      await fs.rm('/a')
      expect(rows('blocks')).toBeGreaterThan(0)
      expect(rows('unlinked')).toBe(1)
      await end(stream)
      expect([rows('blocks'), rows('unlinked')]).toEqual([0, 0])
      const faults = databaseFaults(storage).filter((one) => !one.startsWith('garbage_objects'))
      expect(faults).toEqual([])
    }
  })

  test('is read as it was, whatever is written meanwhile', async () => {
    const { fs, read } = await open(setup())
    const stream = await fs.readStream('/a')
    await fs.writeFile('/a', 'new')
    expect([await new Response(stream).text(), await read()]).toEqual([text, 'new'])
    const growing = await fs.readStream('/a')
    await fs.appendFile('/a', ' and more')
    expect([await new Response(growing).text(), await read()]).toEqual(['new', 'new and more'])
  })

  test('ends with the signal, and lets go of the file', async () => {
    const { fs, rows } = await open(setup())
    const abort = new AbortController()
    const stream = await fs.readStream('/a', { signal: abort.signal })
    await fs.rm('/a')
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(new Response(stream).text()).rejects.toBe(reason)
    expect([rows('blocks'), rows('unlinked')]).toEqual([0, 0])
  })
})

test('a directory and nothing have no stream', async () => {
  const { fs } = await open()
  await fs.mkdir('/d')
  for (const [path, code] of [
    ['/d', 'is-directory'],
    ['/', 'is-directory'],
    ['/none', 'not-found'],
  ] as const) {
    await expect(fs.readStream(path)).rejects.toMatchObject({ code, path })
  }
})

test('a reader that leaves lets go of the object first', async () => {
  const bucket = new SlowBucket()
  const { fs } = await open(inBucket(bucket))
  const reader = (await fs.readStream('/a')).getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toBe('ab')
  await reader.cancel('enough')
  expect(bucket.cancelled).toEqual(['enough'])
})

test.each([1, 5])('an object that lacks %i bytes makes no shorter file', async (missingBytes) => {
  const bucket = new SlowBucket()
  const { fs, read } = await open(inBucket(bucket))
  bucket.missingBytes = missingBytes
  const missing = { code: 'content-missing', path: '/a' }
  await expect(read()).rejects.toMatchObject(missing)
  await expect(fs.readFile('/a')).rejects.toMatchObject(missing)
})

test('a file whose block is gone is damaged, not empty', async () => {
  const { fs, storage } = await open()
  const stream = await fs.readStream('/a')
  storage.sql.exec('DELETE FROM helix_fs_blocks')
  await expect(new Response(stream).text()).rejects.toMatchObject({
    code: 'content-missing',
    path: '/a',
  })
})

test('a content that cannot be removed when its reader ends is left to the collector, and logged', async () => {
  const storage = new NodeStorage()
  const logger = new RecordingLogger()
  const { ws } = await createProvider(storage, { logger }).open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions(),
  )
  await ws.fs?.writeFile('/a', 'x')
  const stream = await ws.fs?.readStream('/a')
  await ws.fs?.rm('/a')
  vi.spyOn(storage, 'transactionSync').mockImplementation(() => {
    throw new Error('no disk')
  })
  await stream?.cancel()
  const [line] = logger.with('file store: removing a content failed')
  expect([line?.level, String(line?.fields['error'])]).toEqual([
    'warn',
    'WorkspaceFailedError: the database of the file store failed',
  ])
})
