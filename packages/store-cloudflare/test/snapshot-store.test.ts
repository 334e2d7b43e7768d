// Every call runs inside whatever instance the object has by then, on a store of its own.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { systemClock } from '@helix-agents/core'
import {
  SNAPSHOT_BLOCK_BYTES,
  SNAPSHOT_GRACE_MS,
  sha256,
  type SnapshotBlock,
  type SnapshotStore,
} from '@helix-agents/core/provider'
import {
  DOSnapshotStore,
  type DOSnapshotStoreOptions,
  eraseDurableObject,
} from '@helix-agents/store-cloudflare'
import { defineConformance } from '@helix-agents/workspace-conformance'
import {
  snapshotStoreBehaviours,
  type SnapshotStoreSubject,
} from '@helix-agents/workspace-conformance/store'
import { describe, expect, it, test } from 'vitest'
import type { StoreObject } from './worker.ts'

interface Opened extends SnapshotStoreSubject {
  readonly inside: <T>(work: (storage: DurableObjectStorage) => Promise<T>) => Promise<T>
}

function open(options: DOSnapshotStoreOptions): Opened {
  const stub = env.STORE.getByName(crypto.randomUUID())
  const time = { addedMs: 0 }
  const clock = { ...systemClock, now: () => Date.now() + time.addedMs }
  const inside = <T>(work: (storage: DurableObjectStorage) => Promise<T>): Promise<T> =>
    runInDurableObject(stub, (_: StoreObject, state) => work(state.storage))
  const store = new Proxy({} as SnapshotStore, {
    get: (_, name) => {
      if (name === 'then') return undefined
      return (...args: readonly unknown[]) =>
        inside(async (storage): Promise<unknown> => {
          const target = new DOSnapshotStore(storage, { ...options, clock })
          return Reflect.apply(Reflect.get(target, name) as never, target, args)
        })
    },
  })
  return {
    store,
    inside,
    advance: async (ms) => void (time.addedMs += ms),
    reopen: async () => {
      await evictDurableObject(stub)
      return store
    },
    damageBlock: (hash) =>
      inside(async ({ sql }) => {
        const update = 'UPDATE helix_snapshot_blocks SET bytes = ? WHERE hash = ?'
        sql.exec(update, new Uint8Array([0]), hash)
        const keys = (await env.BUCKET.list()).objects.map(({ key }) => key)
        for (const key of keys.filter((one) => one.includes(hash))) await env.BUCKET.put(key, 'x')
      }),
    damageManifest: (snapshotId) =>
      inside(async ({ sql }) => {
        const select = `SELECT manifest_id AS id, bytes FROM helix_snapshot_pieces
          JOIN helix_snapshot_manifests USING (manifest_id) WHERE snapshot_id = ?`
        const row = sql.exec<{ id: number; bytes: ArrayBuffer }>(select, snapshotId).one()
        const bytes = new Uint8Array(row.bytes.slice())
        bytes[bytes.length - 20] = 0
        sql.exec('UPDATE helix_snapshot_pieces SET bytes = ? WHERE manifest_id = ?', bytes, row.id)
      }),
  }
}

const runner = { it, fails: it.fails }
const offers = ['durable', 'damage']

describe('DOSnapshotStore', () => {
  defineConformance(runner, snapshotStoreBehaviours, { create: async () => open({}), offers })
})

describe('DOSnapshotStore with a bucket', () => {
  defineConformance(runner, snapshotStoreBehaviours, {
    create: async () => open({ bucket: env.BUCKET, inlineBytes: 0 }),
    offers,
  })
})

async function largeBlock(): Promise<SnapshotBlock> {
  const bytes = new Uint8Array(SNAPSHOT_BLOCK_BYTES).fill(7)
  return { hash: await sha256(bytes), bytes }
}

const objects = async (): Promise<number> => (await env.BUCKET.list()).objects.length

/** A bucket that fails where a test says. */
function failing(fails: { readonly put?: 'before' | 'after'; delete?: boolean }) {
  return {
    get: (key: string) => env.BUCKET.get(key),
    put: async (key: string, value: Uint8Array) => {
      if (fails.put === 'before') throw new Error('no network')
      await env.BUCKET.put(key, value)
      if (fails.put === 'after') throw new Error('no answer')
    },
    delete: async (keys: string[]) => {
      if (fails.delete) throw new Error('no network')
      await env.BUCKET.delete(keys)
    },
  }
}

test('a put that fails stores nothing, and what it left in the bucket is collected', async () => {
  for (const put of ['before', 'after'] as const) {
    const { store, advance } = open({ bucket: failing({ put }) })
    const block = await largeBlock()
    await expect(store.putBlocks('s', [block])).rejects.toMatchObject({ code: 'unavailable' })
    expect(await store.getBlocks('s', [block.hash])).toEqual(new Map())
    await store.putBlocks('s', [])
    await advance(SNAPSHOT_GRACE_MS)
    await store.sweep('s')
    expect(await objects()).toBe(0)
  }
})

test('a delete that fails is repeated by the next sweep', async () => {
  const fails = { delete: true }
  const { store, advance } = open({ bucket: failing(fails) })
  await store.putBlocks('s', [await largeBlock()])
  await advance(SNAPSHOT_GRACE_MS)
  await expect(store.sweep('s')).rejects.toMatchObject({ code: 'unavailable' })
  expect(await objects()).toBe(1)
  fails.delete = false
  await store.sweep('s')
  expect(await objects()).toBe(0)
})

test('two puts of one block at once keep one object', async () => {
  const { store, advance } = open({ bucket: env.BUCKET })
  const block = await largeBlock()
  await Promise.all([store.putBlocks('s', [block]), store.putBlocks('s', [block])])
  await advance(SNAPSHOT_GRACE_MS - 1)
  await store.findBlocks('s', [block.hash])
  await advance(1)
  await store.sweep('s')
  expect(await objects()).toBe(1)
  expect((await store.getBlocks('s', [block.hash])).size).toBe(1)
})

test('an object that the bucket lost is corrupt', async () => {
  const { store } = open({ bucket: env.BUCKET })
  const block = await largeBlock()
  await store.putBlocks('s', [block])
  for (const { key } of (await env.BUCKET.list()).objects) await env.BUCKET.delete(key)
  await expect(store.getBlocks('s', [block.hash])).rejects.toMatchObject({ code: 'corrupt' })
})

test('an object that was only asked has no tables, one that was erased makes them again', async () => {
  const { store, inside } = open({})
  expect(await store.listScopes()).toEqual({ items: [] })
  expect(await store.sweep('s')).toMatchObject({ keptBlocks: 0 })
  const tables = await inside(async ({ sql }) =>
    sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'helix_snapshot%'").toArray(),
  )
  expect(tables).toEqual([])
  await inside(async (storage) => {
    const own = new DOSnapshotStore(storage)
    const block = await largeBlock()
    await own.putBlocks('s', [block])
    await eraseDurableObject(storage)
    expect((await own.getBlocks('s', [block.hash])).size).toBe(0)
    await own.putBlocks('s', [block])
    expect((await own.getBlocks('s', [block.hash])).size).toBe(1)
  })
})
