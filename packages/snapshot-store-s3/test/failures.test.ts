import { inspect } from 'node:util'
import {
  digestEntries,
  sha256,
  type SnapshotBlock,
  type SnapshotEntry,
  type SnapshotManifest,
  verifySnapshots,
} from '@helix-agents/core/provider'
import { S3SnapshotStore } from '@helix-agents/snapshot-store-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalBucket, startBucket } from './local-bucket.ts'

let bucket: LocalBucket
let count = 0

beforeAll(async () => {
  bucket = await startBucket()
})
afterAll(() => bucket.close())

type Fetch = typeof globalThis.fetch

/** A store behind a network; `before` may answer in the place of the bucket, or fail. */
function storeBehind(network: (request: Request, send: Fetch) => Promise<Response>) {
  const prefix = `f${++count}/`
  const send = bucket.options.fetch ?? fetch
  const store = new S3SnapshotStore({
    ...bucket.options,
    prefix,
    retries: 2,
    fetch: (input, init) => network(new Request(input, init), send),
  })
  return { store, prefix }
}

async function blockOf(text: string): Promise<SnapshotBlock> {
  const bytes = new TextEncoder().encode(text)
  return { hash: await sha256(bytes), bytes }
}

async function manifestOf(
  number: number,
  blocks: readonly SnapshotBlock[],
): Promise<SnapshotManifest> {
  const entries: readonly SnapshotEntry[] = blocks.map(({ hash, bytes }, index) => ({
    path: `/${String(index).padStart(6, '0')}`,
    type: 'file',
    size: bytes.length,
    blocks: [hash],
  }))
  const header = {
    formatVersion: 1,
    snapshotId: `snapshot-${String(number).padStart(16, '0')}`,
    createdAt: number,
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    providerId: 'test',
    workspaceId: 'workspace',
    entries: entries.length,
    bytes: blocks.reduce((sum, { bytes }) => sum + bytes.length, 0),
    digest: await digestEntries(entries),
  } as const
  return { header, entries }
}

test('a request that fails for a passing reason is sent again, signed anew', async () => {
  const failures = [503, 'cut', 429, 500] as const
  let sent = 0
  const signatures = new Set<string | null>()
  const { store } = storeBehind(async (request, send) => {
    signatures.add(request.headers.get('authorization'))
    // Two of three fail.
    const failure = sent++ % 3 === 2 ? undefined : failures[sent % failures.length]
    if (failure === 'cut') throw new TypeError('fetch failed')
    return failure === undefined ? send(request) : new Response('', { status: failure })
  })
  const block = await blockOf('a')
  await store.findBlocks('s', [block.hash])
  expect((await store.getBlocks('s', [block.hash])).size).toBe(0)
  expect(sent).toBeGreaterThan(4)
  expect(signatures.size).toBeGreaterThan(1)
})

test('a bucket that stays away is unavailable; the error holds no key, URL or signature', async () => {
  const { store } = storeBehind(async () => {
    throw new TypeError('fetch failed')
  })
  const error: unknown = await store.listScopes().catch((one: unknown) => one)
  expect(error).toMatchObject({ code: 'unavailable', transient: true })
  const shown = inspect(error, { depth: 10 })
  for (const secret of ['S3RVER', 'AWS4-HMAC', '127.0.0.1', 'Signature']) {
    expect(shown).not.toContain(secret)
  }
  expect(inspect(store, { depth: 10, showHidden: true })).not.toContain('S3RVER')
})

test.each([
  ['a wrong key', { secretAccessKey: 'wrong-secret' }, /403 \(SignatureDoesNotMatch\)/],
  ['an unknown key', { accessKeyId: 'nobody' }, /403 \(InvalidAccessKeyId\)/],
])('%s is named and not retried', async (_, changed, message) => {
  let sent = 0
  const store = new S3SnapshotStore({
    ...bucket.options,
    ...changed,
    fetch: (input, init) => {
      sent += 1
      return fetch(input, init)
    },
  })
  const error: unknown = await store.listScopes().catch((one: unknown) => one)
  expect(error).toMatchObject({ code: 'unavailable' })
  expect(String(error)).toMatch(message)
  expect(inspect(error, { depth: 10 })).not.toMatch(/wrong-secret|nobody/)
  expect(sent).toBe(1)
})

test('a bucket that is not there is named, also where a key is read', async () => {
  const bucketUrl = bucket.options.bucketUrl.replace('files', 'absent')
  const store = new S3SnapshotStore({ ...bucket.options, bucketUrl })
  await expect(store.listScopes()).rejects.toThrow('NoSuchBucket')
  const read = store.getManifest('s', 'snapshot-0000000000000001')
  await expect(read).rejects.toMatchObject({ code: 'unavailable' })
})

test('a token of temporary credentials is sent, and signed', async () => {
  const seen: string[] = []
  const store = new S3SnapshotStore({
    ...bucket.options,
    sessionToken: 'a-token',
    fetch: async (input, init) => {
      const { headers } = new Request(input, init)
      seen.push(headers.get('x-amz-security-token') ?? '', headers.get('authorization') ?? '')
      return new Response('')
    },
  })
  expect(await store.listScopes()).toEqual({ items: [] })
  expect(seen[0]).toBe('a-token')
  expect(seen[1]).toContain('x-amz-security-token')
})

test('a full bucket is storage-full', async () => {
  const { store } = storeBehind(async () => new Response('', { status: 507 }))
  await expect(store.putBlocks('s', [await blockOf('a')])).rejects.toMatchObject({
    code: 'storage-full',
  })
})

test('a manifest whose answer was lost is stored once, and no other takes its place', async () => {
  let lose = false
  const { store } = storeBehind(async (request, send) => {
    const isManifest = request.method === 'PUT' && request.url.includes('/manifests/')
    const response = await send(request)
    if (!isManifest || !lose) return response
    lose = false
    throw new TypeError('fetch failed')
  })
  const block = await blockOf('a')
  await store.putBlocks('s', [block])
  lose = true
  const manifest = await manifestOf(1, [block])
  await store.putManifest('s', manifest)
  expect(await store.getManifest('s', manifest.header.snapshotId)).toEqual(manifest)
  await expect(store.putManifest('s', await manifestOf(1, []))).rejects.toMatchObject({
    code: 'already-exists',
  })
})

test('lists of more than a page, and names that no key holds, are whole', async () => {
  const { store } = storeBehind((request, send) => send(request))
  const names = ['x'.repeat(512), `${'x'.repeat(511)}y`, 'é'.repeat(300), 'x']
  for (const name of names) await store.putManifest(name, await manifestOf(1, []))
  const first = await store.listScopes({ limit: 2 })
  const rest = await store.listScopes({ after: first.next ?? '' })
  expect([...first.items, ...rest.items].toSorted()).toEqual(names.toSorted())
  const blocks = await Promise.all(Array.from({ length: 1100 }, (_, index) => blockOf(`${index}`)))
  for (let at = 0; at < blocks.length; at += 250) {
    await store.putBlocks('many', blocks.slice(at, at + 250))
  }
  await store.putManifest('many', await manifestOf(1, blocks))
  expect(await store.sweep('many', { graceMs: 0 })).toMatchObject({ keptBlocks: 1100 })
})

test('a manifest without a header is listed again after a sweep, and leftovers go', async () => {
  const { store, prefix } = storeBehind((request, send) => send(request))
  await store.putManifest('s', await manifestOf(1, []))
  const [head = ''] = (await bucket.keys(prefix)).filter((key) => key.includes('/heads/'))
  await bucket.raw('DELETE', head)
  expect((await store.listManifests('s')).items).toEqual([])
  await store.sweep('s')
  expect((await store.listManifests('s')).items).toHaveLength(1)
  await store.deleteManifest('s', 'snapshot-0000000000000001')
  await store.sweep('s', { graceMs: 0 })
  expect(await store.listScopes()).toEqual({ items: [] })
  expect((await bucket.keys(prefix)).filter((key) => !key.includes('/uses/'))).toEqual([])
})

test('two processes store snapshots while a third sweeps: no manifest loses a block', async () => {
  const { store: first, prefix } = storeBehind((request, send) => send(request))
  const another = (): S3SnapshotStore => new S3SnapshotStore({ ...bucket.options, prefix })
  const [second, sweeper] = [another(), another()]
  const done = new AbortController()
  const sweeps = (async () => {
    while (!done.signal.aborted) await sweeper.sweep('race', { graceMs: 0 })
  })()
  const outcomes = new Set<string>()
  const storeAll = async (store: S3SnapshotStore, from: number): Promise<void> => {
    for (let number = from; number < from + 15; number += 1) {
      const blocks = await Promise.all([blockOf(`new ${number}`), blockOf(`old ${number % 3}`)])
      const put = async (): Promise<string> => {
        await store.putBlocks('race', blocks)
        await store.putManifest('race', await manifestOf(number, blocks))
        return 'stored'
      }
      outcomes.add(await put().catch((error: { readonly code: string }) => error.code))
    }
  }
  await Promise.all([storeAll(first, 0), storeAll(second, 100)])
  done.abort()
  await sweeps
  const verified = await verifySnapshots(first, 'race')
  expect(verified.damaged).toEqual([])
  expect(verified.snapshots).toBeGreaterThan(0)
  expect([...outcomes].every((one) => one === 'stored' || one === 'missing-blocks')).toBe(true)
})

test.each([
  [{ bucketUrl: 'files' }, TypeError],
  [{ bucketUrl: 'https://user:word@host/files' }, TypeError],
  [{ secretAccessKey: '' }, TypeError],
  [{ prefix: '../x' }, RangeError],
  [{ prefix: 'x' }, RangeError],
  [{ retries: -1 }, RangeError],
  [{ requestTimeoutMs: 0 }, RangeError],
])('options %o are rejected', (changed, type) => {
  const make = (): S3SnapshotStore => new S3SnapshotStore({ ...bucket.options, ...changed })
  expect(make).toThrow(type)
  expect(make).not.toThrow(/word/)
})
