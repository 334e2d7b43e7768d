import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { Message } from '@helix-agents/core'
import type { RunWrite } from '@helix-agents/core/runtime'
import {
  DOStateStore,
  DOStreamManager,
  eraseDurableObject,
  hasSqlite,
  openDurableObjectStores,
} from '@helix-agents/store-cloudflare'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type StoreStub, withStores } from './stored.ts'
import { held } from './worker.ts'

const NOW = 1_700_000_000_000
const newObject = (): StoreStub => env.STORE.getByName(crypto.randomUUID())
const user = (content: string): Message => ({ role: 'user', content })

test('stores that are opened twice in one object hear of each other', () =>
  withStores(newObject(), async (_, storage) => {
    const first = new DOStreamManager(storage)
    const second = (await openDurableObjectStores(storage)).streamManager
    const writer = await first.startRun('s', 'r', 'a')
    const reader = (await second.read('s'))?.[Symbol.asyncIterator]()
    const next = reader?.next()
    await writer.write({
      type: 'text_delta',
      delta: 'x',
      agentId: 'r',
      agentType: 'a',
      timestamp: 1,
    })
    expect((await next)?.value).toMatchObject({ delta: 'x', sequence: 1 })
  }))

describe('releaseLeases', () => {
  test('lets the next instance take over at once', async () => {
    const stub = newObject()
    const write = { sessionId: 's', runId: 'r', now: NOW }
    await withStores(stub, async ({ stateStore }) => {
      await stateStore.createSession({ ...write, agentType: 'a', customState: 1 })
      await stateStore.beginRun({ ...write, leaseMs: 3_600_000 })
    })
    await evictDurableObject(stub)
    await withStores(stub, async ({ stateStore, releaseLeases }) => {
      const next = { ...write, runId: 'next', leaseMs: 3_600_000 }
      await expect(stateStore.beginRun(next)).rejects.toMatchObject({ code: 'already-running' })
      expect(await releaseLeases()).toBe(1)
      expect(await stateStore.loadSession('s')).toMatchObject({ status: 'running' })
      await stateStore.beginRun(next)
      const late = stateStore.appendMessages({ ...write, messages: [user('late')] })
      await expect(late).rejects.toMatchObject({ code: 'conflict' })
    })
  })

  test('finds nothing where nothing runs', () =>
    withStores(newObject(), async ({ stateStore, releaseLeases }) => {
      await stateStore.createSession({ sessionId: 's', agentType: 'a', customState: 1, now: NOW })
      expect(await releaseLeases()).toBe(0)
      expect(await stateStore.loadSession('s')).toMatchObject({ status: 'idle', version: 1 })
    }))
})

const tablesOf = ({ sql }: DurableObjectStorage) =>
  sql.exec('SELECT name FROM sqlite_master').toArray()

describe('an object that nothing was written in', () => {
  test('answers as one without sessions, and stores nothing', () =>
    withStores(newObject(), async ({ stateStore, streamManager, ...stores }, storage) => {
      expect(await stores.isEmpty()).toBe(true)
      expect(await stores.releaseLeases()).toBe(0)
      expect(await stateStore.loadSession('s')).toBeNull()
      expect(await stateStore.listSessions()).toEqual({ items: [] })
      const messages = stateStore.loadMessages('s')
      await expect(messages).rejects.toMatchObject({ code: 'not-found' })
      expect(await streamManager.read('s')).toBeNull()
      expect(tablesOf(storage)).toEqual([])
    }))

  test('has tables from the first write on', () =>
    withStores(newObject(), async ({ stateStore, isEmpty }) => {
      const created = { sessionId: 's', agentType: 'a', customState: 1, now: NOW }
      await stateStore.createSession(created)
      expect(await isEmpty()).toBe(false)
      expect(await stateStore.loadSession('s')).toMatchObject({ status: 'idle' })
    }))

  test('is what an erased one is: it can be used again', () =>
    withStores(newObject(), async ({ stateStore, streamManager, isEmpty }, storage) => {
      const created = { sessionId: 's', agentType: 'a', customState: 1, now: NOW }
      await stateStore.createSession(created)
      await streamManager.startRun('s', 'r', 'a')
      await storage.setAlarm(Date.now() + 3_600_000)
      storage.kv.put('other', 1)
      await eraseDurableObject(storage)
      expect(tablesOf(storage)).toEqual([])
      expect([...storage.kv.list()]).toEqual([])
      expect([await storage.getAlarm(), await isEmpty()]).toEqual([null, true])
      expect(await stateStore.loadSession('s')).toBeNull()
      await stateStore.createSession(created)
      expect(await stateStore.loadSession('s')).toMatchObject({ status: 'idle' })
    }))
})

test('the stream of an erased object is not that of the next one', () =>
  withStores(newObject(), async ({ streamManager }, storage) => {
    const read = async (): Promise<unknown[]> => {
      const deltas: unknown[] = []
      for await (const chunk of (await streamManager.read('s')) ?? []) {
        if (deltas.push('delta' in chunk ? chunk.delta : chunk.type) > 10) break
      }
      return deltas
    }
    const write = async (...deltas: readonly string[]): Promise<void> => {
      const writer = await streamManager.startRun('s', 'r', 'a')
      const base = { type: 'text_delta', agentId: 'r', agentType: 'a', timestamp: 1 } as const
      for (const delta of deltas) await writer.write({ ...base, delta })
      await streamManager.endRun('s')
    }
    await write('of', 'the', 'session', 'before')
    expect(await read()).toEqual(['of', 'the', 'session', 'before'])
    await eraseDurableObject(storage)
    await write('of', 'another')
    expect(await read()).toEqual(['of', 'another'])
  }))

test('tables of a newer release are left alone', () =>
  withStores(newObject(), async ({ stateStore }, storage) => {
    await stateStore.createSession({ sessionId: 's', agentType: 'a', customState: 1, now: NOW })
    storage.sql.exec('INSERT INTO helix_schema (version, applied_at) VALUES (99, 0)')
    const open = openDurableObjectStores(storage)
    await expect(open).rejects.toMatchObject({ code: 'schema-version' })
  }))

test('an object with SQLite is known to have it', () =>
  runInDurableObject(newObject(), (_, { storage }) => {
    expect(hasSqlite(storage)).toBe(true)
  }))

test('a chunk cannot be allowed to be larger than a row', () =>
  runInDurableObject(newObject(), async (_, { storage }) => {
    expect(() => new DOStreamManager(storage, { maxChunkBytes: 2_000_000 })).toThrow(RangeError)
    expect(() => new DOStreamManager(storage, { maxChunkBytes: 1_900_000 })).not.toThrow()
  }))

test('values over the limit of a row are kept in every column', async () => {
  const stub = newObject()
  const long = '€'.repeat(1_500_000)
  const ref = { providerId: 'p', schemaVersion: 1, capabilities: {}, ref: { long } }
  const call = { toolCallId: 'c', toolName: 't', arguments: { long }, startedAt: NOW }
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: long } as const
  const write: RunWrite = { sessionId: 's', runId: 'r', now: NOW }
  await withStores(stub, async ({ stateStore }) => {
    const session = { ...write, agentType: 'a', customState: { long }, metadata: { long } }
    await stateStore.createSession(session)
    await stateStore.beginRun({ ...write, leaseMs: 1 })
    await stateStore.saveWorkspaceRef({ ...write, workspace: 'box', ref })
    await stateStore.beginStep({ ...write, messages: [user(long)], journal: [call] })
    const result = { message, endedAt: NOW }
    const fileLedgers = { box: { known: { [long]: {} }, writers: {} } }
    const change = { fileLedgers, customState: { value: long } }
    await stateStore.completeToolCall({ ...write, ...change, toolCallId: 'c', result })
  })
  await evictDurableObject(stub)
  await runInDurableObject(stub, async (_, { storage }) => {
    const store = new DOStateStore(storage)
    expect((await store.loadJournal('s'))[0]?.result?.message.content).toBe(long)
    const outcome = { status: 'completed', output: long } as const
    await store.commitStep({ ...write, messages: [], checkpointId: 'cp', outcome })
    const error = { code: 'x', message: long }
    const head = await store.endRun({ ...write, ...outcome, error, owed: [long] })
    expect(head.output === long && head.customState === long).toBe(true)
    expect(head.metadata?.['long'] === long && head.error?.message === long).toBe(true)
    expect(head.workspaceRefs['box']).toEqual(ref)
    expect((await store.loadMessages('s')).messages[0]?.content === long).toBe(true)
    await store.deleteSession('s')
    expect(storage.sql.exec('SELECT count(*) AS n FROM helix_texts').one()['n']).toBe(0)
  })
}, 120_000)

test('tables that are made have the time of `clock`', async () => {
  held.now = NOW
  onTestFinished(() => {
    delete held.now
  })
  await withStores(newObject(), async ({ stateStore }, storage) => {
    await stateStore.createSession({ sessionId: 's', agentType: 'a', customState: 1, now: 1 })
    const [row] = storage.sql.exec('SELECT applied_at FROM helix_schema').toArray()
    expect(row).toEqual({ applied_at: NOW })
  })
})
