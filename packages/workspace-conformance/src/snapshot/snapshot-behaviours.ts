import type {
  FileSystem,
  SnapshotOptions,
  SnapshotRef,
  Snapshotter,
  Workspace,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { check, ConformanceError, equal, rejectsAborted, rejectsWithCode } from '../assert.ts'
import { names, read, writeFiles } from '../file-system/files.ts'
import { aimAtDecoys } from '../provider/aim-at-decoys.ts'
import { countTexts, forgeTexts, respellTexts } from '../provider/forge-texts.ts'
import { GONE, type ProviderBehaviour } from '../provider/lifecycle.ts'
import { filesOf, type KitOpenOptions, type ProviderSubject } from '../provider/provider-subject.ts'

interface Taken {
  readonly ws: Workspace
  readonly fs: FileSystem
  readonly snapshotter: Snapshotter
  readonly snapshot: SnapshotRef
  readonly ref: WorkspaceRef
}

type Fork = 'restore' | 'branch'

/** A workspace with a snapshot of `/a`, `/d/b` and an empty directory. */
async function takeSnapshot(subject: ProviderSubject, options?: KitOpenOptions): Promise<Taken> {
  const { ref, ws } = await subject.open(options)
  const [fs, snapshotter] = [filesOf(ws), snapshotterOf(ws)]
  await writeFiles(fs, { '/a': 'old', '/d/b': 'b' })
  await fs.mkdir('/empty')
  return { ws, fs, ref, snapshotter, snapshot: await snapshotter.snapshot() }
}

function snapshotterOf(ws: Workspace): Snapshotter {
  if (ws.snapshot !== undefined) return ws.snapshot
  throw new ConformanceError('expected a workspace with snapshots')
}

function fork(taken: Taken, method: Fork, options?: SnapshotOptions): Promise<WorkspaceRef> {
  const call = taken.snapshotter[method]?.bind(taken.snapshotter)
  check(call !== undefined, method)
  return call(taken.snapshot, options)
}

/** Clauses that hold for `restore` and for `branch`. */
const forkClauses: readonly {
  readonly name: string
  readonly run: (subject: ProviderSubject, method: Fork) => Promise<void>
}[] = [
  {
    name: 'brings-the-files-back',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      await writeFiles(taken.fs, { '/a': 'new', '/later': 'x' })
      await taken.fs.rm('/d', { recursive: true })
      const fs = filesOf((await subject.resolve(await fork(taken, method))).ws)
      equal(await names(fs, '/'), ['a', 'd', 'empty'])
      equal([await read(fs, '/a'), await read(fs, '/d/b')], ['old', 'b'])
    },
  },
  {
    name: 'never-touches-the-current-one',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      await writeFiles(taken.fs, { '/a': 'new', '/later': 'x' })
      const restored = filesOf((await subject.resolve(await fork(taken, method))).ws)
      await writeFiles(restored, { '/a': 'changed in the fork', '/only-there': 'x' })
      equal(await read(taken.fs, '/a'), 'new')
      equal(await names(taken.fs, '/'), ['a', 'd', 'empty', 'later'])
    },
  },
  {
    name: 'is-a-new-identity-each-time',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      const refs = [taken.ref, await fork(taken, method), await fork(taken, method)]
      equal(new Set(refs.map((ref) => JSON.stringify(ref.ref))).size, 3)
      const [first, second] = [await subject.resolve(refs[1] ?? taken.ref), taken.ws]
      check(first.ws.id !== second.id, 'another id')
    },
  },
  {
    name: 'two-forks-never-share',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      const first = filesOf((await subject.resolve(await fork(taken, method))).ws)
      const second = filesOf((await subject.resolve(await fork(taken, method))).ws)
      await first.writeFile('/a', 'changed')
      equal(await read(second, '/a'), 'old')
    },
  },
  {
    name: 'of-another-session-needs-consent',
    run: async (subject, method) => {
      const theirs = await takeSnapshot(subject, { sessionId: subject.session('1') })
      const sessionId = subject.session('2')
      const mine = await takeSnapshot(subject, { sessionId })
      const stolen = { ...mine, snapshot: theirs.snapshot }
      await rejectsWithCode('cross-session', () => fork(stolen, method))
      const ref = await fork(stolen, method, { allowCrossSession: true })
      const resolved = await subject.resolve(ref, { sessionId })
      equal(await read(filesOf(resolved.ws), '/a'), 'old')
    },
  },
  {
    name: 'an-aborted-signal-forks-nothing',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => fork(taken, method, { signal }))
    },
  },
  {
    name: 'a-broken-ref-is-rejected',
    run: async (subject, method) => {
      const taken = await takeSnapshot(subject)
      for (const ref of [null, 'x', { forged: true }]) {
        const broken = { ...taken, snapshot: { ...taken.snapshot, ref } }
        await rejectsWithCode('ref-invalid', () => fork(broken, method))
      }
      const foreign = { ...taken, snapshot: { ...taken.snapshot, providerId: 'another' } }
      await rejectsWithCode('ref-invalid', () => fork(foreign, method))
    },
  },
  {
    name: 'a-forged-ref-brings-nothing',
    run: async (subject, method) => {
      const mine = await subject.open()
      const taken = await takeSnapshot(subject)
      check(countTexts(taken.snapshot.ref) > 0, 'a snapshot ref with an id')
      const target = await aimAtDecoys(subject, mine)
      const payload = taken.snapshot.ref
      const forgeries = target.ids.map((id) => forgeTexts(payload, id))
      for (const ref of [...forgeries, ...respellTexts(payload)]) {
        const forged = { ...taken, snapshot: { ...taken.snapshot, ref } }
        await leadsNowhere(subject, forged, method)
      }
      await target.assertIntact()
      equal([await read(taken.fs, '/a'), await read(taken.fs, '/d/b')], ['old', 'b'])
    },
  },
]

/** A fork of what no provider ever took opens nothing, whether it is rejected at once or later. */
async function leadsNowhere(subject: ProviderSubject, taken: Taken, method: Fork): Promise<void> {
  const codes = ['ref-invalid', 'cross-session', 'provider-failed', ...GONE]
  await rejectsWithCode(codes, async () => subject.resolveForged(await fork(taken, method)))
}

function forkBehaviours(method: Fork): readonly ProviderBehaviour[] {
  const needs = method === 'branch' ? ['snapshot', 'fs', 'branch'] : ['snapshot', 'fs']
  return forkClauses.map(({ name, run }) => ({
    id: `snapshot/${method}/${name}`,
    needs,
    slow: true,
    run: (subject) => run(subject, method),
  }))
}

/** Every clause about snapshots. */
export const snapshotBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'snapshot/take/the-ref-survives-json',
    needs: ['snapshot', 'fs'],
    slow: true,
    run: async (subject) => {
      const taken = await takeSnapshot(subject)
      equal(taken.snapshot.providerId, subject.provider.providerId)
      const snapshot: SnapshotRef = JSON.parse(JSON.stringify(taken.snapshot))
      const ref = await fork({ ...taken, snapshot }, 'restore')
      equal(await read(filesOf((await subject.resolve(ref)).ws), '/a'), 'old')
    },
  },
  {
    id: 'snapshot/take/an-aborted-signal-takes-none',
    needs: ['snapshot'],
    run: async (subject) => {
      const snapshotter = snapshotterOf((await subject.open()).ws)
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => snapshotter.snapshot({ signal }))
    },
  },
  {
    id: 'snapshot/take/leaves-the-files-alone',
    needs: ['snapshot', 'fs'],
    slow: true,
    run: async (subject) => {
      const { fs, snapshotter } = await takeSnapshot(subject)
      const { version } = await fs.stat('/a')
      await snapshotter.snapshot()
      equal([(await fs.stat('/a')).version, await read(fs, '/d/b')], [version, 'b'])
    },
  },
  {
    id: 'snapshot/branch/exists-where-it-is-declared',
    needs: ['snapshot'],
    run: async (subject) => {
      const snapshotter = snapshotterOf((await subject.open()).ws)
      equal(snapshotter.branch !== undefined, subject.provider.capabilities.branch === true)
    },
  },
  ...forkBehaviours('restore'),
  ...forkBehaviours('branch'),
]
