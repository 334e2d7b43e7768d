// The stored snapshots of a provider: which of them a session finds, and what is freed when.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotHeader } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ownMarker, type OwnerMarker, readOwner, writeOwner } from '../../src/owner.ts'
import { MARKER_VARIABLE, readProcess } from '../../src/shell/processes/process-table.ts'
import {
  type LocalBashSnapshotOptions,
  LocalSnapshots,
  snapshotDirectoryIn,
} from '../../src/snapshots/local-snapshots.ts'
import { toSnapshotRef } from '../../src/snapshots/snapshot-ref.ts'
import { sha256 } from '../../src/snapshots/store/block-files.ts'
import { createDirectory } from '../../src/workspace-directory.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const root = useDirectory()
const LINE = '1'.repeat(32)
const DEAD = { pid: 1, startTime: 1, bootId: 'of an earlier start' } as const
const bytes = Buffer.from('content')
const block = { hash: sha256(bytes), bytes }
const file = { path: '/f', type: 'file', size: 7, blocks: [block.hash] } as const
const idOf = (n: number): string => String(n).padStart(32, '0')

let clock: ManualClock
let store: DirectorySnapshotStore
beforeEach(() => {
  clock = new ManualClock(5000)
  store = new DirectorySnapshotStore({ directory: snapshotDirectoryIn(root()), clock })
})
const open = (options?: LocalBashSnapshotOptions): LocalSnapshots =>
  new LocalSnapshots(root(), clock, options)

/** Stores the n-th snapshot of a line. @returns what names it */
async function take(n: number, more: Partial<SnapshotHeader> = {}, line = LINE) {
  await store.putBlocks(line, [block])
  const manifest = await manifestOf(idOf(n), [file], { createdAt: n, ...more })
  await store.putManifest(line, manifest)
  const payload = { line, id: idOf(n), digest: manifest.header.digest }
  return { manifest, payload, ref: toSnapshotRef(payload) }
}

/** A workspace of a line, with a marker of this process and changes to it. */
function place(more: Partial<OwnerMarker> = {}) {
  const directory = createDirectory(root())
  const marker = { ...ownMarker({ env: {}, sinceMs: 1, session: 's', line: LINE }), ...more }
  writeOwner(directory.path, marker)
  return { directory, marker }
}
const made = (): string[] => readdirSync(root()).filter((name) => name.startsWith('helix-ws-'))
const { process: _, ...detached } = ownMarker({ env: {}, sinceMs: 1, session: 's', line: LINE })
/** A workspace that no process uses. */
function placeLeft(more: Partial<OwnerMarker> = {}) {
  const directory = createDirectory(root())
  writeOwner(directory.path, { ...detached, ...more })
  return directory
}

it('snapshots lie beside the workspaces, by the id of their user, unless an option says where', async () => {
  expect(snapshotDirectoryIn('/x')).toBe(`/x/helix-snapshots-${process.getuid?.()}`)
  const { ref } = await take(1, { kept: true })
  expect(await open().keptOf('s')).toEqual([ref])
  expect(await open({ directory: join(root(), 'elsewhere') }).keptOf('s')).toEqual([])
})

describe('a snapshot that is looked for', () => {
  const wanted = { sessionId: 's' }
  it('is found with what was said of it', async () => {
    const { manifest, payload } = await take(1)
    const ref = toSnapshotRef({ ...payload, lost: 'a link' })
    const { signal } = new AbortController()
    expect(await open().find(ref, { ...wanted, signal })).toEqual({
      manifest,
      scope: LINE,
      signal,
      lost: 'a link',
    })
  })
  it('is one of the session, unless the caller allows others', async () => {
    const { ref, manifest } = await take(1, { sessionId: 'other' })
    for (const more of [{}, { allowCrossSession: false }]) {
      await expect(open().find(ref, { ...wanted, ...more })).rejects.toMatchObject({
        code: 'cross-session',
        hint: 'Restore a snapshot that this session took.',
      })
    }
    const found = await open().find(ref, { ...wanted, allowCrossSession: true })
    expect(found.manifest).toEqual(manifest)
  })
  it('is the one that was taken', async () => {
    const { payload } = await take(1)
    const other = toSnapshotRef({ ...payload, digest: 'f'.repeat(64) })
    await expect(open().find(other, wanted)).rejects.toMatchObject({
      code: 'corrupt',
      message: 'the stored snapshot is not the one that was taken',
    })
  })
  it('is damaged, when it is', async () => {
    const { ref } = await take(1)
    const manifests = join(store.blockDirectory(LINE) ?? '', '../manifests')
    const [name = ''] = readdirSync(manifests)
    truncateSync(join(manifests, name), 10)
    await expect(open().find(ref, wanted)).rejects.toMatchObject({
      name: 'SnapshotStoreError',
      code: 'corrupt',
    })
  })
  it.each([
    [undefined, 16],
    [{ maxSnapshots: 3 }, 3],
  ])('is there no more, with %j: so many are kept', async (options, count) => {
    const { payload } = await take(1)
    for (const more of [{ id: idOf(2) }, { line: '2'.repeat(32) }]) {
      const gone = toSnapshotRef({ ...payload, ...more })
      await expect(open(options).find(gone, wanted)).rejects.toMatchObject({
        code: 'provider-failed',
        message: 'there is no such snapshot',
        hint: `The last ${count} of a workspace are kept, fewer of large files. Take a new one.`,
        cause: expect.objectContaining({ code: 'not-found' }) as Error,
      })
    }
  })
})

describe('a workspace that is made from a snapshot', () => {
  const like = { env: { A: '1' }, isolation: 'bubblewrap', line: LINE, session: 's' } as const

  it('has its files, and is left to whoever attaches to it', async () => {
    const { manifest } = await take(1)
    const source = { manifest, scope: LINE, signal: undefined, lost: 'a link' }
    const { directory } = await open().fork(source, like)
    expect(directory).toMatchObject({ isFork: true, path: join(root(), directory.name) })
    expect(readFileSync(join(directory.root, 'f'), 'utf8')).toBe('content')
    expect(existsSync(directory.scratch)).toBe(true)
    expect(readOwner(directory.path)).toEqual({ format: 1, ...like, lost: 'a link', sinceMs: 5000 })
    const plain = await open().fork({ ...source, lost: undefined }, like)
    expect(readOwner(plain.directory.path)).toEqual({ format: 1, ...like, sinceMs: 5000 })
  })
  it('is one of this process while it is filled', async () => {
    const { manifest } = await take(1)
    const owners: unknown[] = []
    const names: string[][] = []
    let ms = 5000
    Object.assign(clock, { now: () => (ms += 1) })
    const signal = {
      throwIfAborted: () => {
        const [name = ''] = made()
        owners.push(readOwner(join(root(), name)))
        names.push(readdirSync(join(root(), name, 'root')))
      },
    } as AbortSignal
    const { directory } = await open().fork(
      { manifest, scope: LINE, signal, lost: undefined },
      like,
    )
    const own = ownMarker({ ...like, sinceMs: 5001 })
    // A slow machine asks more than once.
    expect([owners, names.at(-1)]).toEqual([owners.map(() => own), ['f']])
    expect(readOwner(directory.path)).toEqual({ format: 1, ...like, sinceMs: 5002 })
  })
  it('is gone when it cannot be filled, or the caller stops', async () => {
    const { manifest } = await take(1)
    const lost = { ...file, path: '/g', blocks: ['ab'.repeat(32)] }
    const source = { manifest, scope: LINE, signal: undefined, lost: undefined }
    const damaged = { ...source, manifest: { ...manifest, entries: [lost] } }
    await expect(open().fork(damaged, like)).rejects.toMatchObject({ code: 'missing-blocks' })
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(open().fork({ ...source, signal }, like)).rejects.toThrow('stopped')
    expect(made()).toEqual([])
  })
})

describe('kept snapshots', () => {
  it('are those of a session, of all its lines', async () => {
    const { ref: first } = await take(1, { kept: true })
    await take(2)
    await take(3, { kept: true, sessionId: 'other' })
    const { ref: last } = await take(4, { kept: true }, '0'.repeat(32))
    const kept = await open().keptOf('s')
    expect(kept).toHaveLength(2)
    expect(kept).toEqual(expect.arrayContaining([first, last]))
  })
  it('go when they are removed, with their line when no workspace has it', async () => {
    await take(1, { kept: true })
    await take(2, { kept: true })
    await open().remove(LINE, idOf(1))
    expect((await store.listManifests(LINE)).items.map(({ createdAt }) => createdAt)).toEqual([2])
    place()
    await open().remove(LINE, idOf(2))
    const manifests = join(store.blockDirectory(LINE) ?? '', '../manifests')
    expect(readdirSync(manifests)).toEqual([])
    await open().remove(LINE, idOf(3))
    expect([(await store.listManifests(LINE)).items, store.holds(LINE)]).toEqual([[], true])
  })
  it('that are removed one by one are swept after the eighth', async () => {
    place()
    for (let n = 1; n <= 9; n += 1) await take(n, { kept: true })
    const sweep = vi.spyOn(DirectorySnapshotStore.prototype, 'sweep')
    const snapshots = open()
    for (let n = 1; n <= 4; n += 1) await snapshots.remove(LINE, idOf(n))
    // Those of another line count for that one.
    await snapshots.remove('0'.repeat(32), idOf(1))
    for (let n = 5; n <= 8; n += 1) await snapshots.remove(LINE, idOf(n))
    expect(sweep).toHaveBeenCalledOnce()
  })
  it('that are the last of their line leave nothing', async () => {
    await take(1, { kept: true })
    await open().remove(LINE, idOf(1))
    await open().remove(LINE, idOf(1))
    expect(store.holds(LINE)).toBe(false)
  })
})

describe('a workspace that is closed', () => {
  it('frees its snapshots, but for kept ones', async () => {
    const { directory, marker } = place()
    await take(1)
    await take(2, { kept: true })
    await open().release(directory, { ...marker, line: '3'.repeat(32) })
    expect((await store.listManifests(LINE)).items).toHaveLength(2)
    writeOwner(directory.path, { ...marker, line: '3'.repeat(32) })
    await open().release(directory, marker)
    expect((await store.listManifests(LINE)).items.map(({ createdAt }) => createdAt)).toEqual([2])
  })
  it('ends what its session has left, and no workspace of others', async () => {
    const { directory, marker } = place()
    const left = [placeLeft(), placeLeft({ process: DEAD })]
    const others = [
      placeLeft({ session: 'other' }),
      placeLeft({ line: '4'.repeat(32) }),
      placeLeft({ process: { ...DEAD, place: 'another-host' } }),
      place().directory,
    ]
    const { marker: __, directory: without } = place()
    const { session: ___, ...none } = detached
    writeOwner(without.path, none)
    await take(1)
    const env = { [MARKER_VARIABLE]: `${left[0]?.name}:1` }
    const child = spawn('/bin/sleep', ['986'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    await open().release(directory, marker)
    expect(readProcess(child.pid ?? 0)?.state ?? 'Z').toBe('Z')
    expect(left.map(({ path }) => existsSync(path))).toEqual([false, false])
    for (const { path } of [...others, without, directory]) expect(existsSync(path)).toBe(true)
    expect(store.holds(LINE)).toBe(true)
    const { session: ____, ...ofNone } = marker
    const again = placeLeft()
    await open().release(directory, ofNone)
    expect(existsSync(again.path)).toBe(true)
  })
  it('looks for no other when it has no snapshots, and was made from none', async () => {
    const { directory, marker } = place()
    const left = placeLeft()
    await open().release(directory, marker)
    expect(existsSync(left.path)).toBe(true)
    const { line: __, ...unlined } = marker
    await open().release({ ...directory, isFork: true }, unlined)
    expect(existsSync(left.path)).toBe(true)
    await open().release({ ...directory, isFork: true }, marker)
    expect(existsSync(left.path)).toBe(false)
  })
  it('without a line has nothing to free', async () => {
    await take(1)
    await open().releaseLine(undefined)
    expect(store.holds(LINE)).toBe(true)
    await open().releaseLine(LINE)
    expect(store.holds(LINE)).toBe(false)
  })
})
