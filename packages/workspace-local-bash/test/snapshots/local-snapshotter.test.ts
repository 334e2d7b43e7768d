import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { snapshotLimits } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { DirectorySnapshotStore, TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { detachedMarker, ownMarker, type OwnerMarker, readOwner } from '../../src/owner.ts'
import {
  type LocalBashSnapshotOptions,
  LocalSnapshots,
  snapshotDirectoryIn,
} from '../../src/snapshots/local-snapshots.ts'
import { toSnapshotRef } from '../../src/snapshots/snapshot-ref.ts'
import { createDirectory, restoreDirectory } from '../../src/workspace-directory.ts'
import { SnapshotSubject } from './snapshot-subject.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const root = useDirectory()
const LINE = '1'.repeat(32)
let clock: ManualClock
let store: DirectorySnapshotStore
let logger: RecordingLogger
beforeEach(() => {
  logger = new RecordingLogger()
  clock = new ManualClock(5000)
  store = new DirectorySnapshotStore({ directory: snapshotDirectoryIn(root()), clock })
})

/** A workspace of two files with five bytes, while these are the limits. */
async function bounded(limits: Partial<typeof snapshotLimits>): Promise<SnapshotSubject> {
  const before = { ...snapshotLimits }
  const subject = await SnapshotSubject.create()
  onTestFinished(async () => {
    Object.assign(snapshotLimits, before)
    await subject.host.dispose()
  })
  writeFileSync(join(subject.root, 'a'), 'xx')
  writeFileSync(join(subject.root, 'b'), 'xxx')
  Object.assign(snapshotLimits, limits)
  return subject
}

it.each([{ maxTotalBytes: 5 }, { maxEntries: 2 }])(
  'a snapshot is as large as %j',
  async (limits) => {
    const subject = await bounded(limits)
    const { header } = await subject.manifestOf(await subject.ws.snapshot.snapshot())
    expect([header.bytes, header.entries]).toEqual([5, 2])
  },
)

it.each([
  [{ maxTotalBytes: 4 }, 'at most 4 bytes'],
  [{ maxEntries: 1 }, 'at most 1 files and directories'],
])('a snapshot over %j is refused', async (limits, problem) => {
  const { ws } = await bounded(limits)
  await expect(ws.snapshot.snapshot()).rejects.toMatchObject({
    code: 'provider-failed',
    message: `too many files for a snapshot: ${problem}`,
    hint: 'Remove files that are not needed, or take none.',
  })
})

describe('the snapshotter of a workspace', () => {
  const ofLine: OwnerMarker = ownMarker({ env: { A: '1' }, sinceMs: 1, line: LINE })
  function snapshotter(
    options?: LocalBashSnapshotOptions,
    marker = ofLine,
    directory = createDirectory(root()),
  ) {
    restoreDirectory(directory)
    const { root: files, scratch } = directory
    const fs = new TmpdirFileSystem({ root: files, scratch, restore: () => mkdirSync(files) })
    const session = { sessionId: 's', agentType: 'a' }
    const placed = { directory, isolation: 'none', marker, session } as const
    const opened = { workspace: 'box' } as Parameters<LocalSnapshots['snapshotterOf']>[0]['options']
    const parts = { files: fs.context, shellRoot: files, clock, logger }
    return {
      directory,
      fs,
      taken: new LocalSnapshots(root(), clock, options).snapshotterOf(
        { ...placed, options: opened },
        parts,
      ),
    }
  }

  it('says of each snapshot whose it is, and restores it as a workspace of no session', async () => {
    const { directory, fs, taken } = snapshotter()
    await fs.writeFile('/f', 'x')
    const ref = await taken.snapshot()
    expect((await store.listManifests(LINE)).items).toMatchObject([
      { sessionId: 's', agentType: 'a', workspace: 'box', workspaceId: directory.name },
    ])
    const { ref: restored } = await taken.restore(ref)
    const { directory: name } = restored as { readonly directory: string }
    expect(restored).toEqual({ directory: name, isolation: 'none' })
    expect(readFileSync(join(root(), name, 'root', 'f'), 'utf8')).toBe('x')
    expect(readOwner(join(root(), name))).toEqual({
      ...detachedMarker(ownMarker({ env: { A: '1' }, sinceMs: 0, line: LINE }), 5000),
      isolation: 'none',
    })
  })
  it('restores what another session took when that is allowed', async () => {
    const { taken } = snapshotter()
    const id = '2'.repeat(32)
    const manifest = await manifestOf(id, [], { sessionId: 'other' })
    await store.putManifest(LINE, manifest)
    const ref = toSnapshotRef({ line: LINE, id, digest: manifest.header.digest })
    await expect(taken.restore(ref)).rejects.toMatchObject({ code: 'cross-session' })
    const options = { allowCrossSession: true, signal: AbortSignal.abort(new Error('stopped')) }
    const load = vi.spyOn(DirectorySnapshotStore.prototype, 'getManifest')
    await expect(taken.restore(ref, options)).rejects.toThrow('stopped')
    expect(load).not.toHaveBeenCalled()
    expect(await taken.branch(ref, { allowCrossSession: true })).toMatchObject({
      providerId: 'local-bash',
    })
  })
  it.each([
    [{ maxSnapshots: 2 }, 2],
    [{ maxBytes: 2 }, 2],
    [undefined, 4],
  ])('keeps as many as %j says', async (options, count) => {
    const { fs, taken } = snapshotter(options)
    for (const text of ['a', 'b', 'c', 'd']) {
      await fs.writeFile('/f', text)
      await taken.snapshot()
    }
    expect((await store.listManifests(LINE)).items).toHaveLength(count)
  })
  it.each([
    ['with 8 GiB', 8 * 1024 ** 3 - 1, 2],
    ['over 8 GiB', 8 * 1024 ** 3 + 1, 1],
  ])('keeps two %s when no option says more: %s', async (_, bytes, count) => {
    vi.spyOn(DirectorySnapshotStore.prototype, 'blockBytes').mockResolvedValue(bytes)
    const { fs, taken } = snapshotter()
    for (const text of ['a', 'b']) {
      await fs.writeFile('/f', text)
      await taken.snapshot()
    }
    expect((await store.listManifests(LINE)).items).toHaveLength(count)
  })
  it('frees what one that failed had stored with the next one', async () => {
    const { fs, taken } = snapshotter()
    await fs.writeFile('/f', 'first')
    const failure = new Error('no room')
    vi.spyOn(DirectorySnapshotStore.prototype, 'putManifest').mockRejectedValueOnce(failure)
    await expect(taken.snapshot()).rejects.toBe(failure)
    expect(await store.blockBytes(LINE)).toBe(5)
    await clock.advance(3_600_000)
    await fs.writeFile('/f', 'another')
    await taken.snapshot()
    expect(await store.blockBytes(LINE)).toBe(7)
  })
  it('stores none of which the caller stops while its last blocks are stored', async () => {
    const { fs, taken } = snapshotter()
    await fs.writeFile('/f', 'x')
    const abort = new AbortController()
    const put = vi.spyOn(DirectorySnapshotStore.prototype, 'putBlocks')
    const putReally = put.getMockImplementation()
    put.mockImplementationOnce(async (...args) => {
      abort.abort(new Error('stopped'))
      return putReally?.(...args)
    })
    await expect(taken.snapshot({ signal: abort.signal })).rejects.toThrow('stopped')
    expect((await store.listManifests(LINE)).items).toEqual([])
  })
  it('of a workspace of an older release has a line of its own', async () => {
    const { line: __, ...unlined } = ofLine
    const { ref } = await snapshotter(undefined, unlined).taken.snapshot()
    const { line } = ref as { readonly line: string }
    expect(line).toMatch(/^[0-9a-f]{32}$/)
    expect([line === LINE, store.holds(LINE), store.holds(line)]).toEqual([false, false, true])
  })
  it('takes one after the other, each later than the one before', async () => {
    const { fs, taken } = snapshotter()
    await fs.writeFile('/f', 'x')
    await Promise.all([taken.snapshot(), taken.snapshot({ keep: true }), taken.snapshot()])
    const [last, second, first] = (await store.listManifests(LINE)).items
    expect([last, second, first].map((one) => [one?.createdAt, one?.kept])).toEqual([
      [5002, undefined],
      [5001, true],
      [5000, undefined],
    ])
    expect([last?.parent, second?.parent, first?.parent]).toEqual([
      second?.snapshotId,
      first?.snapshotId,
      undefined,
    ])
    expect(first).toMatchObject({
      providerId: 'local-bash',
      formatVersion: 1,
      entries: 1,
      bytes: 1,
    })
    await clock.advance(1000)
    await taken.snapshot()
    expect((await store.listManifests(LINE)).items[0]?.createdAt).toBe(6000)
  })
  it('goes on after the last one of an earlier process', async () => {
    const { directory, fs, taken } = snapshotter()
    await fs.writeFile('/f', 'x')
    await taken.snapshot()
    const [first] = (await store.listManifests(LINE)).items
    const again = snapshotter(undefined, ofLine, directory)
    await again.taken.snapshot()
    const [second] = (await store.listManifests(LINE)).items
    expect([second?.parent, second?.digest]).toEqual([first?.snapshotId, first?.digest])
  })
  it('hears a caller who stops, also while it waits, and takes the next one', async () => {
    const { taken } = snapshotter()
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(taken.snapshot({ signal })).rejects.toThrow('stopped')
    const load = vi.spyOn(DirectorySnapshotStore.prototype, 'getManifest')
    const abort = new AbortController()
    const waiting = [taken.snapshot(), taken.snapshot({ signal: abort.signal }), taken.snapshot()]
    abort.abort(new Error('no more'))
    const [one, two, three] = await Promise.allSettled(waiting)
    expect([one?.status, two, three?.status]).toEqual([
      'fulfilled',
      { status: 'rejected', reason: new Error('no more') },
      'fulfilled',
    ])
    // What the first one knows is there for the third.
    expect(load).not.toHaveBeenCalled()
  })
  it('reads every file again when what it knows of is freed', async () => {
    const { fs, taken } = snapshotter()
    await fs.writeFile('/f', 'x')
    const { ref } = await taken.snapshot()
    const { id } = ref as { readonly id: string }
    await store.deleteManifest(LINE, id)
    await store.sweep(LINE, { graceMs: 0 })
    expect(await store.blockBytes(LINE)).toBe(0)
    await taken.snapshot()
    expect([await store.blockBytes(LINE), (await store.listManifests(LINE)).items.length]).toEqual([
      1, 1,
    ])
  })
  it('says in the log and in the ref what it does not hold', async () => {
    const { directory, taken } = snapshotter()
    symlinkSync('/etc/passwd', join(directory.root, 'out'))
    const { ref } = await taken.snapshot()
    const lost = 'The snapshot does not hold as they were: link "/out" (1).'
    expect(ref).toMatchObject({ lost })
    const losses = [{ kind: 'link', count: 1, paths: ['/out'] }]
    const message = 'snapshot does not hold all of the workspace'
    expect(logger.lines).toEqual([{ level: 'warn', message, fields: { losses } }])
  })
})
