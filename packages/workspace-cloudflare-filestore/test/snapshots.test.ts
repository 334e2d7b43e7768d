import { env } from 'cloudflare:workers'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import type { OpenedWorkspace, SnapshotRef, Snapshotter } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { shapeOf, treeOf } from './crash/audit.ts'
import { countStatements } from './counted-storage.ts'
import { asNewIsolate, inObject } from './objects.ts'
import { createProvider, openOptions, type ProviderSetup, session } from './provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const

function open(storage: FileStoreStorage, setup: ProviderSetup = {}): Promise<OpenedWorkspace> {
  return createProvider(storage, setup).open(config, session, openOptions())
}

function snapshotterOf({ ws }: OpenedWorkspace): Snapshotter {
  if (ws.snapshot === undefined) throw new Error('a workspace without snapshots')
  return ws.snapshot
}

async function write(opened: OpenedWorkspace, path: string, content: string): Promise<void> {
  await opened.ws.fs?.writeFile(path, content)
}

async function text(opened: OpenedWorkspace, path: string): Promise<string> {
  return new TextDecoder().decode(await opened.ws.fs?.readFile(path))
}

async function restore(
  storage: FileStoreStorage,
  from: OpenedWorkspace,
  snapshot: SnapshotRef,
  sessionId: string = session.sessionId,
): Promise<OpenedWorkspace> {
  const ref = await snapshotterOf(from).restore(snapshot)
  const options = { ...openOptions(), session: { ...session, sessionId } }
  return createProvider(storage, { r2: env.BUCKET }).resolve(ref, options)
}

const namespaces = (storage: DurableObjectStorage): number =>
  storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM helix_fs_namespaces').one().n

test('a snapshot outlives the isolate, with files in the bucket', () =>
  inObject(async (storage) => {
    const setup = { r2: env.BUCKET, inlineThresholdBytes: 10 }
    const opened = await open(storage, setup)
    await write(opened, '/small', 'small')
    await write(opened, '/large', 'large '.repeat(100))
    const before = shapeOf(await treeOf(opened.ws.fs!))
    const snapshot = await snapshotterOf(opened).snapshot()
    await opened.ws.fs?.rm('/large')
    await createProvider(storage, setup).collect(Number.MAX_SAFE_INTEGER)
    const later = await open(asNewIsolate(storage), setup)
    const restored = await restore(storage, later, snapshot)
    expect(shapeOf(await treeOf(restored.ws.fs!))).toEqual(before)
  }))

test('a close removes what the session left behind, and snapshots with the last workspace', () =>
  inObject(async (storage) => {
    const first = await open(storage)
    await write(first, '/a', 'old')
    const snapshot = await snapshotterOf(first).snapshot()
    const second = await restore(storage, first, snapshot)
    const other = await restore(storage, first, snapshot, 'another')
    await write(second, '/a', 'new')
    await second.ws.close()
    // The next open of the session must not find the files that it went back from.
    await expect(text(first, '/a')).rejects.toMatchObject({ code: 'lost' })
    expect((await open(storage)).receipt.outcome).toBe('created')
    expect(await text(other, '/a')).toBe('old')
    await other.ws.close()
    expect(namespaces(storage)).toBe(1)
  }))

test('a fork belongs to the first session that opens it', () =>
  inObject(async (storage) => {
    const first = await open(storage)
    const ref = await snapshotterOf(first).restore(await snapshotterOf(first).snapshot())
    const resolve = (sessionId: string): Promise<OpenedWorkspace> =>
      createProvider(storage).resolve(ref, {
        ...openOptions(),
        session: { ...session, sessionId },
      })
    await expect(resolve('ann')).resolves.toBeDefined()
    await expect(resolve('bob')).rejects.toMatchObject({ code: 'ref-invalid' })
    await expect(resolve('ann')).resolves.toBeDefined()
  }))

test('a snapshot is no workspace', () =>
  inObject(async (storage) => {
    const first = await open(storage)
    const snapshot = await snapshotterOf(first).snapshot()
    const { id } = snapshot.ref as { id: string }
    const forged = { ...first.ref, ref: { id } }
    const options = { ...openOptions(), session }
    await expect(createProvider(storage).resolve(forged, options)).rejects.toMatchObject({
      code: 'lost',
    })
    const own = { ...snapshot, ref: { ...(snapshot.ref as object), id: first.ws.id } }
    await expect(snapshotterOf(first).restore(own)).rejects.toMatchObject({
      code: 'provider-failed',
    })
  }))

/** Which snapshots can be restored. */
function kept(opened: OpenedWorkspace, refs: readonly SnapshotRef[]): Promise<boolean[]> {
  return Promise.all(
    refs.map((ref) =>
      snapshotterOf(opened)
        .restore(ref)
        .then(
          () => true,
          () => false,
        ),
    ),
  )
}

describe('the oldest snapshot is dropped', () => {
  test('beyond maxSnapshots', () =>
    inObject(async (storage) => {
      const opened = await open(storage, { maxSnapshots: 2 })
      const refs: SnapshotRef[] = []
      for (let i = 0; i < 4; i += 1) refs.push(await snapshotterOf(opened).snapshot())
      expect(await kept(opened, refs)).toEqual([false, false, true, true])
    }))

  test('when all together are larger than a workspace may be', () =>
    inObject(async (storage) => {
      const opened = await open(storage, { maxBytes: 100 })
      await write(opened, '/a', 'x'.repeat(60))
      const refs: SnapshotRef[] = []
      for (let i = 0; i < 3; i += 1) refs.push(await snapshotterOf(opened).snapshot())
      expect(await kept(opened, refs)).toEqual([false, false, true])
    }))
})

test('more entries than one transaction copies in time are no snapshot', () =>
  inObject(async (storage) => {
    const opened = await open(storage)
    const row = storage.sql
      .exec<{ id: number }>('SELECT id FROM helix_fs_namespaces WHERE public_id = ?', opened.ws.id)
      .one()
    storage.sql.exec(
      `INSERT INTO helix_fs_nodes
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16001)
        SELECT ?, '/', 'd' || i, NULL, 0, 0, 0, 0, 0 FROM n`,
      row.id,
    )
    await expect(snapshotterOf(opened).snapshot()).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('at most 16000 files and directories'),
    })
    expect(namespaces(storage)).toBe(1)
  }))

test('a snapshot takes the same statements, however many files there are', () =>
  inObject(async (storage) => {
    const counted = countStatements(storage)
    const opened = await open(counted.storage)
    const count = async (): Promise<number> => {
      const before = counted.statements.length
      await snapshotterOf(opened).snapshot()
      return counted.statements.length - before
    }
    await write(opened, '/a', 'x')
    const few = await count()
    for (let i = 0; i < 500; i += 1) await write(opened, `/d${i % 7}/f${i}`, String(i))
    expect(await count()).toBe(few)
  }))

describe('the history', () => {
  const keep = { keep: true } as const

  test('keeps snapshots beyond the number of others and the end of the workspace', () =>
    inObject(async (storage) => {
      const provider = createProvider(storage, { maxSnapshots: 1 })
      const opened = await provider.open(config, session, openOptions())
      await write(opened, '/a', 'one')
      const taken = await snapshotterOf(opened).snapshot(keep)
      await write(opened, '/a', 'two')
      await snapshotterOf(opened).snapshot()
      await snapshotterOf(opened).snapshot()
      await opened.ws.close()
      const { sessionId } = session
      expect(await provider.history.list(sessionId)).toEqual({ snapshots: [taken], workspaces: [] })
      const ref = await provider.history.restore(taken, { ...openOptions(), session })
      const back = await provider.resolve(ref, { ...openOptions(), session })
      expect(await text(back, '/a')).toBe('one')
      expect((await provider.history.list(sessionId)).workspaces).toEqual([ref])
      await provider.release(ref, { ...openOptions(), session })
      await provider.history.remove(taken)
      await provider.history.remove(taken)
      expect(namespaces(storage)).toBe(0)
      expect(storage.sql.exec('SELECT * FROM helix_fs_nodes').toArray()).toEqual([])
    }))

  test('is not that of another session, and frees nothing of one', () =>
    inObject(async (storage) => {
      const provider = createProvider(storage)
      const opened = await provider.open(config, session, openOptions())
      const taken = await snapshotterOf(opened).snapshot(keep)
      const other = { ...session, sessionId: 'other' }
      const options = { ...openOptions(), session: other }
      await expect(provider.history.restore(taken, options)).rejects.toMatchObject({
        code: 'cross-session',
      })
      await provider.release(opened.ref, options)
      expect((await provider.history.list(session.sessionId)).workspaces).toEqual([opened.ref])
      const allowed = { ...options, allowCrossSession: true }
      const ref = await provider.history.restore(taken, allowed)
      expect((await provider.history.list('other')).workspaces).toEqual([ref])
    }))
})
