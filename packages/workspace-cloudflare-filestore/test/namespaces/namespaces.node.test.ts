// Whose files, forks and snapshots are: in Node, over its SQLite.
import type {
  FileSystem,
  OpenedWorkspace,
  SnapshotRef,
  Snapshotter,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const

const as = (sessionId: string) => ({ ...openOptions(), session: { ...session, sessionId } })

function setup(more: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const provider = createProvider(storage, more)
  const open = (sessionId = 'ann', workspace = 'box', declared: object = config) =>
    provider.open(declared as typeof config, { ...session, sessionId }, openOptions({ workspace }))
  const resolve = (ref: WorkspaceRef, sessionId = 'ann') => provider.resolve(ref, as(sessionId))
  /** Kinds of all that there are, sorted. */
  const namespaces = (): unknown[] =>
    storage.sql
      .exec('SELECT kind FROM helix_fs_namespaces ORDER BY kind')
      .toArray()
      .map(({ kind }) => kind)
  return { storage, provider, open, resolve, namespaces }
}

const filesOf = ({ ws }: OpenedWorkspace): FileSystem => ws.fs as FileSystem
const snapshotterOf = ({ ws }: OpenedWorkspace): Required<Snapshotter> =>
  ws.snapshot as Required<Snapshotter>
const read = async (opened: OpenedWorkspace): Promise<string> =>
  new TextDecoder().decode(await filesOf(opened).readFile('/a'))

describe('the files of a session', () => {
  test('are its own, by workspace, and found again with and without a ref', async () => {
    const { open, resolve } = setup()
    const first = await open()
    expect(first.receipt).toEqual({ outcome: 'created' })
    await filesOf(first).writeFile('/a', 'of ann')
    for (const [sessionId, workspace] of [
      ['ben', 'box'],
      ['ann', 'other'],
    ]) {
      const other = await open(sessionId, workspace)
      expect([other.receipt?.outcome, await filesOf(other).ls('/')]).toEqual(['created', []])
    }
    const again = await open()
    expect([again.receipt, again.ref, again.ws.id]).toEqual([
      { outcome: 'reattached' },
      first.ref,
      first.ws.id,
    ])
    const resolved = await resolve(first.ref)
    expect([resolved.receipt, resolved.ref, await read(resolved)]).toEqual([
      { outcome: 'reattached' },
      first.ref,
      'of ann',
    ])
    await expect(resolve(first.ref, 'ben')).rejects.toMatchObject({
      code: 'ref-invalid',
      message: expect.stringContaining('the stored ref is of another session'),
    })
  })

  test('that a declaration names are shared when it says so, and outlive them', async () => {
    const { open, resolve, provider } = setup()
    const shared = { ...config, namespace: 'n', shareAcrossSessions: true }
    const ann = await open('ann', 'box', shared)
    await filesOf(ann).writeFile('/a', 'of all')
    const ben = await open('ben', 'other', shared)
    expect([ben.receipt?.outcome, ben.ref, await read(ben)]).toEqual([
      'reattached',
      ann.ref,
      'of all',
    ])
    await ben.ws.close()
    await provider.release(ann.ref, as('ann'))
    expect(await read(await resolve(ann.ref, 'cid'))).toBe('of all')
    await expect(open('ann', 'box', { ...config, namespace: 'n' })).rejects.toMatchObject({
      code: 'sharing-not-declared',
      message: expect.stringContaining('workspace "box" names a namespace'),
      hint: 'An operator must set shareAcrossSessions: true next to it, or leave it out.',
    })
  })

  test('are freed by a ref of the session, and by no other', async () => {
    const { open, resolve, provider, namespaces, storage } = setup()
    const opened = await open()
    await filesOf(opened).writeFile('/a', 'x')
    const taken = await snapshotterOf(opened).snapshot()
    await provider.release(opened.ref, as('ben'))
    expect(await read(await resolve(opened.ref))).toBe('x')
    const { id } = taken.ref as { id: string }
    await provider.release({ ...opened.ref, ref: { id } }, as('ann'))
    expect(namespaces()).toEqual(['snapshot', 'workspace'])
    await provider.release(opened.ref, as('ann'))
    expect(namespaces()).toEqual(['snapshot'])
    await expect(resolve(opened.ref)).rejects.toMatchObject({ code: 'lost' })
    await expect(filesOf(opened).ls('/')).rejects.toMatchObject({ code: 'lost' })
    expect(databaseFaults(storage)).toEqual([])
  })
})

/** Which snapshots can be restored. */
const restorable = async (opened: OpenedWorkspace, refs: readonly SnapshotRef[]) =>
  Promise.all(
    refs.map((ref) =>
      snapshotterOf(opened)
        .restore(ref)
        .then(
          () => true,
          () => false,
        ),
    ),
  )

describe('a snapshot', () => {
  test('is the files as they were, for a fork that belongs to who opens it first', async () => {
    const { open, resolve, namespaces, storage } = setup()
    const opened = await open()
    await filesOf(opened).writeFile('/a', 'old')
    const taken = await snapshotterOf(opened).snapshot()
    await filesOf(opened).writeFile('/a', 'new')
    for (const method of ['restore', 'branch'] as const) {
      const ref = await snapshotterOf(opened)[method](taken)
      const fork = await resolve(ref, method)
      expect([fork.receipt, await read(fork), await read(opened)]).toEqual([
        { outcome: 'reattached' },
        'old',
        'new',
      ])
      await expect(resolve(ref, 'another')).rejects.toMatchObject({ code: 'ref-invalid' })
      await filesOf(fork).writeFile('/a', method)
    }
    expect(namespaces()).toEqual(['snapshot', 'workspace', 'workspace', 'workspace'])
    expect(databaseFaults(storage)).toEqual([])
  })

  test('is no workspace, and a workspace no snapshot', async () => {
    const { open, resolve } = setup()
    const opened = await open()
    const taken = await snapshotterOf(opened).snapshot()
    const { id } = taken.ref as { id: string }
    await expect(resolve({ ...opened.ref, ref: { id } })).rejects.toMatchObject({ code: 'lost' })
    const own = { ...taken, ref: { schemaVersion: 1, id: opened.ws.id } }
    const gone = { ...taken, ref: { schemaVersion: 1, id: `fs-${'0'.repeat(32)}` } }
    for (const ref of [own, gone]) {
      await expect(snapshotterOf(opened).restore(ref)).rejects.toMatchObject({
        code: 'provider-failed',
        message: expect.stringContaining('there is no such snapshot'),
        hint: 'The last 16 of a workspace are kept, fewer of large files. Take a new one.',
      })
    }
    for (const ref of [
      { ...taken, providerId: 'other' },
      { ...taken, ref: { id } },
      { ...taken, ref: { schemaVersion: 2, id } },
      { ...taken, ref: { schemaVersion: 1, id: 'x' } },
    ]) {
      await expect(snapshotterOf(opened).restore(ref)).rejects.toMatchObject({
        code: 'ref-invalid',
        hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      })
    }
  })

  test('is for the session that took it, unless another is allowed', async () => {
    const { open, provider } = setup()
    const [ann, ben] = [await open(), await open('ben')]
    const taken = await snapshotterOf(ann).snapshot()
    const kept = await snapshotterOf(ann).snapshot({ keep: true })
    const refused = {
      code: 'cross-session',
      message: expect.stringContaining('the snapshot was taken by another session'),
      hint: 'Restore a snapshot that this session took.',
    }
    await expect(snapshotterOf(ben).restore(taken)).rejects.toMatchObject(refused)
    await expect(snapshotterOf(ben).branch(taken)).rejects.toMatchObject(refused)
    await expect(provider.history.restore(kept, as('ben'))).rejects.toMatchObject(refused)
    const allowCrossSession = true
    await snapshotterOf(ben).restore(taken, { allowCrossSession })
    await snapshotterOf(ben).branch(taken, { allowCrossSession })
    const ref = await provider.history.restore(kept, { ...as('ben'), allowCrossSession })
    expect((await provider.history.list('ben')).workspaces).toEqual([ben.ref, ref])
  })

  test('is not taken or restored once the signal has come', async () => {
    const { open, provider, namespaces } = setup()
    const opened = await open()
    const taken = await snapshotterOf(opened).snapshot({ keep: true })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(snapshotterOf(opened).snapshot({ signal })).rejects.toThrow('enough')
    await expect(snapshotterOf(opened).restore(taken, { signal })).rejects.toThrow('enough')
    const options = { ...as('ann'), signal }
    await expect(provider.history.restore(taken, options)).rejects.toThrow('enough')
    expect(namespaces()).toEqual(['kept', 'workspace'])
  })

  test.each<readonly [ProviderSetup, number, readonly boolean[]]>([
    [{ maxSnapshots: 2 }, 1, [false, false, true, true]],
    [{ maxSnapshots: 4 }, 1, [true, true, true, true]],
    [{ maxSnapshots: 1 }, 1, [false, false, false, true]],
    [{ maxBytes: 100 }, 50, [false, false, true, true]],
    [{ maxBytes: 100 }, 51, [false, false, false, true]],
    [{ maxBytes: 100 }, 100, [false, false, false, true]],
  ])('is dropped with %j, of files of %i bytes: %j', async (limits, bytes, expected) => {
    const { open, storage } = setup(limits)
    const opened = await open()
    await filesOf(opened).writeFile('/a', 'x'.repeat(bytes))
    const kept = await snapshotterOf(opened).snapshot({ keep: true })
    const refs: SnapshotRef[] = []
    for (let i = 0; i < 4; i += 1) refs.push(await snapshotterOf(opened).snapshot())
    expect(await restorable(opened, [kept, ...refs])).toEqual([true, ...expected])
    expect(databaseFaults(storage)).toEqual([])
  })

  test('is gone with the last workspace of its line, but for one that is kept', async () => {
    const { open, resolve, provider, namespaces, storage } = setup()
    const opened = await open()
    await filesOf(opened).writeFile('/a', 'x')
    const taken = await snapshotterOf(opened).snapshot()
    const kept = await snapshotterOf(opened).snapshot({ keep: true })
    const other = await resolve(await snapshotterOf(opened).branch(taken), 'ben')
    await opened.ws.close()
    expect(namespaces()).toEqual(['kept', 'snapshot', 'workspace'])
    expect(await read(other)).toBe('x')
    await other.ws.close()
    expect(namespaces()).toEqual(['kept'])
    expect(await provider.history.list('ann')).toEqual({ snapshots: [kept], workspaces: [] })
    await provider.history.remove(kept)
    expect(namespaces()).toEqual([])
    expect(storage.sql.exec('SELECT * FROM helix_fs_blocks').toArray()).toEqual([])
  })

  test('is left with a workspace of another session, and what a session left goes with it', async () => {
    const { open, resolve, namespaces } = setup()
    const opened = await open()
    const taken = await snapshotterOf(opened).snapshot()
    const next = await resolve(await snapshotterOf(opened).restore(taken))
    expect(namespaces()).toEqual(['snapshot', 'workspace', 'workspace'])
    await next.ws.close()
    expect(namespaces()).toEqual([])
    await expect(filesOf(opened).ls('/')).rejects.toMatchObject({ code: 'lost' })
  })

  test('that is no kept one is not removed by the history', async () => {
    const { open, provider, namespaces } = setup()
    const opened = await open()
    const taken = await snapshotterOf(opened).snapshot()
    await provider.history.remove(taken)
    const own = { ...taken, ref: { schemaVersion: 1, id: opened.ws.id } }
    await provider.history.remove(own)
    expect(namespaces()).toEqual(['snapshot', 'workspace'])
  })
})
