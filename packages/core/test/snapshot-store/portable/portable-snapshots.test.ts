import { beforeEach, describe, expect, test } from 'vitest'
import {
  portableSnapshots,
  type PortableSnapshotsOptions,
} from '../../../src/snapshot-store/portable/portable-snapshots.ts'
import { SnapshotStoreError } from '../../../src/errors/snapshot-store-error.ts'
import { fileSystemConfigSchema } from '../../../src/modules/fs/config.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { RecordingLogger } from '../../../src/testing/recording-logger.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { MapStore } from '../map-store.ts'
import { TreeProvider } from './tree-provider.ts'

const session = { sessionId: 'session', agentType: 'agent' }

let inner: TreeProvider
let store: MapStore
let logger: RecordingLogger
beforeEach(() => {
  ;[inner, store, logger] = [new TreeProvider(), new MapStore(), new RecordingLogger()]
})

function without(ws: Workspace, part: keyof Workspace): Workspace {
  const parts = Object.entries(ws).filter(([name]) => name !== part)
  return Object.fromEntries(parts) as unknown as Workspace
}

const optionsOf = () => ({
  workspace: 'box',
  capabilities: { fs: fileSystemConfigSchema.parse({}), snapshot: { allowCrossSession: false } },
  signal: new AbortController().signal,
  logger,
  clock: new ManualClock(),
})

const wrap = (options: Partial<PortableSnapshotsOptions> = {}) =>
  portableSnapshots(inner, { store, ...options })

async function openWith(files: Readonly<Record<string, string>>, provider = wrap()) {
  const { ws } = await provider.open({ kind: 'tree' }, session, optionsOf())
  for (const [path, text] of Object.entries(files)) await ws.fs!.writeFile(path, text)
  return { provider, ws, snapshot: ws.snapshot! }
}

test('what is no provider, no store or no number is refused', () => {
  expect(() => portableSnapshots({} as never, { store })).toThrow(
    'portableSnapshots: the first argument must be a workspace provider',
  )
  expect(() => portableSnapshots(inner, {} as never)).toThrow(
    'portableSnapshots: store must be a SnapshotStore',
  )
  expect(() => portableSnapshots(inner, undefined as never)).toThrow('must be a SnapshotStore')
  for (const maxSnapshots of [0, 1.5]) {
    expect(() => wrap({ maxSnapshots })).toThrow(
      `maxSnapshots must be a whole number over 0, not ${maxSnapshots}`,
    )
  }
  wrap({ maxSnapshots: 1 })
})

test('the provider stays what it is, and has snapshots and branches beside', () => {
  inner.toolNotes = { fs: 'a note' }
  const { providerId, refSchemaVersion, capabilities, toolNotes } = wrap()
  expect({ providerId, refSchemaVersion, capabilities, toolNotes }).toEqual({
    providerId: 'tree',
    refSchemaVersion: 3,
    capabilities: { fs: true, snapshot: true, branch: true },
    toolNotes: { fs: 'a note' },
  })
  delete inner.toolNotes
  expect(wrap().toolNotes).toEqual({})
})

test('a workspace keeps its parts; those that it has not are absent', async () => {
  const { ws: bare } = await openWith({})
  expect(Object.keys(bare).toSorted()).toEqual([
    'changedRef',
    'close',
    'detach',
    'fs',
    'id',
    'isolation',
    'snapshot',
  ])
  const parts = {
    containment: 'scan' as const,
    maxProcesses: 3,
    shellRoot: '/workspace',
    shell: {} as never,
    code: {} as never,
    changedRef: inner.refOf('changed'),
  }
  inner.prepare = (ws) => ({ ...ws, ...parts })
  const { ws } = await openWith({})
  const flags = { fs: true, snapshot: true, branch: true }
  expect(ws).toMatchObject({ ...parts, changedRef: { ...parts.changedRef, capabilities: flags } })
  expect([ws.id, ws.isolation, bare.changedRef]).toEqual(['tree-2', 'process', undefined])
  await ws.detach?.()
  expect(inner.calls.at(-1)).toBe('detach tree-2')
  inner.prepare = (one) => without(one, 'detach')
  expect('detach' in (await openWith({})).ws).toBe(false)
})

test('a workspace without files is given as it is', async () => {
  inner.prepare = (ws) => without(ws, 'fs')
  const { ws, ref } = await wrap().open({ kind: 'tree' }, session, optionsOf())
  expect(ws.snapshot).toBeUndefined()
  expect(ref.capabilities).toEqual({ fs: true })
})

test('the provider itself is not asked for snapshots', async () => {
  const provider = wrap()
  const { ref } = await provider.open({ kind: 'tree' }, session, optionsOf())
  expect(ref.capabilities).toEqual({ fs: true, snapshot: true, branch: true })
  await provider.resolve(ref, { ...optionsOf(), session })
  const [opened, resolved] = [inner.opened[0], inner.resolved[0]]
  expect([opened, resolved].map((one) => Object.keys(one!.capabilities))).toEqual([['fs'], ['fs']])
  expect(resolved).toMatchObject({ workspace: 'box', session })
  const released: unknown[] = []
  inner.release = async (one, { capabilities }) => void released.push([one, capabilities])
  await provider.release?.(ref, { ...optionsOf(), session })
  expect(released).toEqual([[ref, { fs: optionsOf().capabilities.fs }]])
})

test('a backend is named and freed as its provider does, else by its ref', async () => {
  const { provider } = await openWith({})
  const ref = inner.refOf('tree-1')
  expect(provider.identify?.(ref)).toBe('{"id":"tree-1"}')
  inner.identify = () => 'a name'
  expect(provider.identify?.(ref)).toBe('a name')
  await provider.release?.(ref, { ...optionsOf(), session })
  expect([inner.calls, inner.trees.size]).toEqual([['open tree-1', 'close tree-1'], 0])
})

describe('a restore', () => {
  test('makes a workspace beside the one that is there, and lets go of it', async () => {
    const { provider, snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    expect(await snapshot.restore(ref)).toEqual({
      ...inner.refOf('tree-2'),
      capabilities: { fs: true, snapshot: true, branch: true },
    })
    expect(inner.trees.get('tree-2')?.all()).toEqual({ '/a': 'text' })
    expect(inner.calls).toEqual(['open tree-1', 'open tree-2', 'detach tree-2'])
    const [, beside] = inner.opened
    expect(beside).toMatchObject({ resolvedAs: 'box', workspace: expect.stringMatching(/^box-./) })
    expect(beside?.capabilities).not.toHaveProperty('snapshot')
    await provider.history?.restore(ref, { ...optionsOf(), session, resolvedAs: 'other' })
    expect(inner.opened[2]).toMatchObject({ resolvedAs: 'other' })
    expect(inner.parsed).toEqual([{ kind: 'tree' }])
    await snapshot.branch?.(ref)
    expect(inner.calls.at(-1)).toBe('detach tree-4')
  })

  test('gives the ref that the workspace has when it is filled', async () => {
    const { snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    inner.prepare = (ws) => ({ ...ws, changedRef: inner.refOf('changed') })
    expect(await snapshot.restore(ref)).toMatchObject({ ref: { id: 'changed' } })
  })

  test('closes what it cannot fill, and leaves what was there before', async () => {
    const { snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    inner.receipt = { outcome: 'reattached' }
    await expect(snapshot.restore(ref)).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the declaration names one workspace: nothing can be restored beside it',
      hint: 'An operator must remove the fixed id or namespace from the declaration.',
      transient: false,
    })
    expect(inner.calls.at(-1)).toBe('detach tree-2')
    inner.receipt = { outcome: 'created' }
    inner.prepare = (ws) => without(ws, 'fs')
    await expect(snapshot.restore(ref)).rejects.toThrow('opened a workspace without files')
    expect(inner.calls.at(-1)).toBe('close tree-3')
  })

  test('passes its signal on', async () => {
    const { snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    const stop = new AbortController()
    inner.prepare = (ws) => {
      stop.abort('enough')
      return ws
    }
    await expect(snapshot.restore(ref, { signal: stop.signal })).rejects.toBe('enough')
    expect(inner.opened[1]?.signal).toBe(stop.signal)
    await expect(snapshot.snapshot({ signal: stop.signal })).rejects.toBe('enough')
  })

  test('holds files to the limit of the policy before anything is made', async () => {
    const { provider, snapshot } = await openWith({ '/a': 'x'.repeat(1025) })
    const ref = await snapshot.snapshot()
    const capabilities = { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 1 / 1024 }) }
    const options = { ...optionsOf(), session, capabilities }
    await expect(provider.history?.restore(ref, options)).rejects.toMatchObject({
      code: 'too-large',
    })
    expect(inner.calls).toEqual(['open tree-1'])
  })

  test('tells once what the new workspace could not hold', async () => {
    const { provider, snapshot } = await openWith({ '/a': 'text' })
    inner.trees.get('tree-1')!.add('/l', 'symlink')
    inner.trees.get('tree-1')!.links.set('/l', 'a')
    const ref = await snapshot.snapshot()
    inner.prepare = (ws, fs) => {
      fs.attributes = {}
      return ws
    }
    const restored = await snapshot.restore(ref)
    const detailOf = async () =>
      (await provider.resolve(restored, { ...optionsOf(), session })).receipt.detail
    const told = 'There. Not restored: 1 links, permissions of 1 files.'
    expect([await detailOf(), await detailOf()]).toEqual([told, 'There.'])
    expect(logger.lines.map(({ level, fields, message }) => [level, message, fields])).toEqual([
      [
        'warn',
        expect.any(String),
        {
          count: 2,
          losses: [
            { path: '/a', kind: 'mode' },
            { path: '/l', kind: 'link' },
          ],
        },
      ],
    ])
  })
})

describe('whose snapshot it is', () => {
  const other = { sessionId: 'other', agentType: 'agent' }

  test('another session needs leave', async () => {
    const { provider, snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    const restore = (allow: boolean) =>
      provider.history?.restore(ref, {
        ...optionsOf(),
        session: other,
        ...(allow && { allowCrossSession: true }),
      })
    const refusal = {
      code: 'cross-session',
      message: expect.stringContaining('the snapshot was taken by another session'),
      hint: 'Restore a snapshot that this session took.',
    }
    await expect(restore(false)).rejects.toMatchObject(refusal)
    expect(await restore(true)).toMatchObject({ ref: { id: 'tree-2' } })
    const theirs = await provider.open({ kind: 'tree' }, other, optionsOf())
    await expect(theirs.ws.snapshot!.restore(ref)).rejects.toMatchObject(refusal)
    await theirs.ws.snapshot!.restore(ref, { allowCrossSession: true })
  })

  test('sessions that share a scope need leave as well', async () => {
    const provider = wrap({ scope: () => 'shared' })
    const { snapshot } = await openWith({ '/a': 'text' }, provider)
    const ref = await snapshot.snapshot()
    expect(ref.ref).toMatchObject({ scope: 'shared', schemaVersion: 1 })
    const theirs = await provider.open({ kind: 'tree' }, other, optionsOf())
    await expect(theirs.ws.snapshot!.restore(ref)).rejects.toMatchObject({ code: 'cross-session' })
    const options = { ...optionsOf(), session: other }
    await expect(provider.history?.restore(ref, options)).rejects.toMatchObject({
      code: 'cross-session',
    })
    expect(await provider.history?.restore(ref, { ...options, session })).toBeDefined()
  })

  test('a ref of another kind, or a changed one, is none', async () => {
    const { snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    for (const forged of [
      { ...ref, providerId: 'other' },
      { ...ref, ref: { schemaVersion: 1 } },
    ]) {
      await expect(snapshot.restore(forged)).rejects.toMatchObject({
        code: 'ref-invalid',
        message: expect.stringContaining('that is not a snapshot of this kind of workspace'),
        hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      })
    }
  })

  test('a snapshot that is gone, or a store that is away, is told', async () => {
    const { snapshot } = await openWith({ '/a': 'text' })
    const ref = await snapshot.snapshot()
    store.manifests.clear()
    await expect(snapshot.restore(ref)).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('there is no such snapshot'),
      hint: 'The last ones are kept. Take a new one.',
      transient: false,
    })
    store.getManifest = () => Promise.reject(new SnapshotStoreError('unavailable', 'it is away'))
    await expect(snapshot.restore(ref)).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('it is away'),
      transient: true,
    })
    const failure = new Error('disk')
    store.getManifest = () => Promise.reject(failure)
    await expect(snapshot.restore(ref)).rejects.toBe(failure)
  })
})

test('a history lists the kept snapshots of a session, and what its provider holds', async () => {
  const { provider, snapshot } = await openWith({ '/a': 'text' })
  await snapshot.snapshot()
  const kept = await snapshot.snapshot({ keep: true })
  const [manifest] = [...store.manifests.values()].filter(({ header }) => header.kept)
  const foreign = [{ sessionId: 'other' }, { providerId: 'other' }]
  for (const [index, changed] of foreign.entries()) {
    store.manifests.set(`${index}`, { ...manifest!, header: { ...manifest!.header, ...changed } })
  }
  expect(await provider.history?.list('session')).toEqual({ snapshots: [kept], workspaces: [] })
  inner.hold({ snapshots: [], workspaces: [inner.refOf('left')] })
  expect((await provider.history?.list('session'))?.workspaces).toEqual([
    { ...inner.refOf('left'), capabilities: { fs: true, snapshot: true, branch: true } },
  ])
  await provider.history?.remove(kept)
  expect((await provider.history?.list('session'))?.snapshots).toEqual([])
})
