import { beforeEach, expect, test } from 'vitest'
import { SnapshotStoreError } from '../../../src/errors/snapshot-store-error.ts'
import { portableSnapshots } from '../../../src/snapshot-store/portable/portable-snapshots.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { RecordingLogger } from '../../../src/testing/recording-logger.ts'
import { MapStore } from '../map-store.ts'
import { TreeProvider } from './tree-provider.ts'

const session = { sessionId: 'session', agentType: 'agent' }

let inner: TreeProvider
let store: MapStore
let logger: RecordingLogger
beforeEach(() => {
  inner = new TreeProvider()
  store = new MapStore()
  logger = new RecordingLogger()
})

const optionsOf = (workspace = 'box') => ({
  workspace,
  capabilities: {},
  signal: new AbortController().signal,
  logger,
  clock: new ManualClock(),
})

async function open({ workspace = 'box', ...options }: Record<string, unknown> = {}) {
  const provider = portableSnapshots(inner, { store, ...options })
  const { ws, ref } = await provider.open({ kind: 'tree' }, session, optionsOf(String(workspace)))
  return { provider, ref, ws, fs: inner.trees.get(ws.id)!, snapshot: ws.snapshot! }
}

const idsOf = () => [...store.manifests.keys()]
const newest = () => [...store.manifests.values()].at(-1)!

test('a snapshot is of its session, workspace and provider', async () => {
  const { snapshot } = await open()
  const ref = await snapshot.snapshot()
  const [snapshotId] = idsOf()
  expect(ref).toEqual({
    providerId: 'tree',
    ref: { schemaVersion: 1, scope: 'session', snapshotId },
  })
  expect(newest().header).toMatchObject({
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    workspaceId: 'tree-1',
    providerId: 'tree',
    createdAt: new ManualClock().now(),
  })
  expect(newest().header).not.toHaveProperty('kept')
})

test('each snapshot is compared with the one before, also after a restart', async () => {
  const { provider, ref, fs, snapshot } = await open()
  await fs.writeFile('/a', 'text')
  let reads = 0
  const readFile = fs.readFile.bind(fs)
  fs.readFile = async (path) => {
    reads += 1
    return readFile(path)
  }
  await snapshot.snapshot()
  await snapshot.snapshot()
  expect([reads, newest().header.parent]).toEqual([1, idsOf()[0]])
  store.manifests.set('of another workspace', {
    ...newest(),
    header: { ...newest().header, workspaceId: 'tree-9' },
  })
  store.listManifests = async () => ({
    items: [...store.manifests.values()].map(({ header }) => header).toReversed(),
  })
  const again = await provider.resolve(ref, { ...optionsOf(), session })
  await again.ws.snapshot!.snapshot()
  expect([reads, newest().header.parent]).toEqual([1, idsOf()[1]])
})

test('a snapshot to compare with that is gone or damaged is done without', async () => {
  const { provider, ref, snapshot } = await open()
  await snapshot.snapshot()
  const take = async (error: Error) => {
    store.getManifest = async () => {
      throw error
    }
    const { ws } = await provider.resolve(ref, { ...optionsOf(), session })
    return ws.snapshot!.snapshot()
  }
  await take(new SnapshotStoreError('corrupt', 'damaged'))
  expect(newest().header.parent).toBeUndefined()
  for (const error of [new SnapshotStoreError('unavailable', 'away'), new Error('disk')]) {
    await expect(take(error)).rejects.toBe(error)
  }
})

test('the oldest of a workspace go first; kept ones, and those of others, stay', async () => {
  const others = await open({ workspace: 'other' })
  await others.snapshot.snapshot()
  const { snapshot } = await open({ maxSnapshots: 2 })
  store.listManifests = async () => ({
    items: [...store.manifests.values()].map(({ header }) => header).toReversed(),
  })
  await snapshot.snapshot({ keep: true })
  for (let number = 0; number < 3; number += 1) await snapshot.snapshot()
  const headers = [...store.manifests.values()].map(({ header }) => header)
  expect(headers.map(({ workspace, kept }) => [workspace, kept])).toEqual([
    ['other', undefined],
    ['box', true],
    ['box', undefined],
    ['box', undefined],
  ])
})

test('sixteen stay where nothing else is said', async () => {
  const { snapshot } = await open()
  for (let number = 0; number < 17; number += 1) await snapshot.snapshot()
  expect(store.manifests.size).toBe(16)
})

test('an end of the workspace deletes what is not kept, then sweeps', async () => {
  const { ws, snapshot } = await open()
  await snapshot.snapshot()
  await snapshot.snapshot({ keep: true })
  const swept: string[] = []
  store.sweep = async (...args: readonly unknown[]) => {
    swept.push(`${String(args[0])}, ${store.manifests.size} left, ${inner.calls.at(-1)}`)
    return { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  }
  await ws.close()
  expect(swept).toEqual(['session, 1 left, close tree-1'])
})

test('what is ignored is no part of it, and what it cannot hold is logged', async () => {
  const { fs, snapshot } = await open({ ignore: ['*.log'] })
  await fs.writeFile('/a.log', '')
  for (let number = 10; number < 31; number += 1) fs.add(`/pipe${number}`, 'other')
  await snapshot.snapshot()
  expect(newest().entries).toEqual([])
  const [line] = logger.with('snapshot does not hold everything')
  expect(line).toMatchObject({ level: 'warn', fields: { count: 21 } })
  const { losses } = line!.fields as { losses: readonly unknown[] }
  expect(losses).toHaveLength(20)
  expect(losses[0]).toEqual({ path: '/pipe10', kind: 'special-file' })
})
