// What a branch into another object costs, part by part: memory of an object is 128 MB, and its turns
// are shared with every other request. In Node, as clocks stand still inside workerd.
import {
  compareEntries,
  restoreSnapshot,
  type SnapshotManifest,
  type SnapshotStore,
  takeSnapshot,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import {
  createNodeWorkHost,
  HOLD_TOLERANCE,
  MAX_HOLD_MS,
  measureWork,
  type NodeProcess,
} from '@helix-agents/workspace-conformance/bounds'
import { afterEach, expect, test } from 'vitest'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

interface NodeFiles {
  mkdtempSync(prefix: string): string
  rmSync(path: string, options: { readonly recursive: true }): void
}
/** This folder has the types of workerd. */
const { process: node } = globalThis as unknown as {
  readonly process: NodeProcess & { getBuiltinModule(id: string): unknown }
}
const files = node.getBuiltinModule('node:fs') as unknown as NodeFiles
const { tmpdir } = node.getBuiltinModule('node:os') as { readonly tmpdir: () => string }

const MEBIBYTE = 1024 ** 2
const FILES = new TestSampler().size(8_000, 2_000)
const FILE_BYTES = 10_000
/** What an object has, garbage included; the same for every number of files. */
const MAX_PEAK_BYTES = 128 * MEBIBYTE
const TIMEOUT_MS = 900_000

interface Place {
  readonly store: SnapshotStore
  readonly scope: string
}

/** Other packages have it; this one does not depend on them. */
async function load<T>(path: string): Promise<T> {
  const { url } = import.meta as unknown as { readonly url: string }
  return (await import(/* @vite-ignore */ new URL(`../../${path}`, url).href)) as T
}
const { FileBlocks } = await load<{ FileBlocks: new (files: object) => SnapshotStore }>(
  'runtime-js/src/history/file-blocks.ts',
)
const { exportTar, importTar } = await load<{
  readonly exportTar: (
    from: Place,
    manifest: SnapshotManifest,
  ) => Promise<ReadableStream<Uint8Array>>
  readonly importTar: (
    tar: ReadableStream<Uint8Array>,
    to: Place,
    options: { readonly identity: object },
  ) => Promise<SnapshotManifest>
}>('snapshot-archive/src/index.ts')
const { DOSnapshotStore } = await load<{
  DOSnapshotStore: new (storage: NodeStorage) => SnapshotStore
}>('store-cloudflare/src/snapshots/durable-object-snapshot-store.ts')

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function createObject() {
  const root = files.mkdtempSync(`${tmpdir()}/helix-branch-`)
  const storage = new NodeStorage(`${root}/object.sqlite`)
  ends.push(() => {
    storage.database.close()
    files.rmSync(root, { recursive: true })
  })
  const provider = createProvider(storage)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  if (ws.fs === undefined) throw new Error('no files')
  return { storage, fs: ws.fs, id: ws.id }
}

/** Reads an archive as the Worker does that passes it on. */
async function drain(
  from: Place,
  manifest: SnapshotManifest,
  onPiece: (piece: Uint8Array) => void = () => {},
): Promise<void> {
  const reader = (await exportTar(from, manifest)).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) onPiece(part.value)
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = pieces.values()
  return new ReadableStream({
    pull: (controller) => {
      const { done, value } = rest.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

async function bounded<T>(run: () => Promise<T>): Promise<T> {
  const host = createNodeWorkHost(node, { stillClock: true })
  const { cost, outcome } = await measureWork(host, run)
  if (outcome.status === 'rejected') throw outcome.reason
  expect(cost.holdMs).toBeLessThan(MAX_HOLD_MS * HOLD_TOLERANCE)
  expect(cost.peakBytes).toBeLessThan(MAX_PEAK_BYTES)
  return outcome.value
}

test(
  'neither memory nor turns grow with the files of a branch',
  { timeout: TIMEOUT_MS },
  async () => {
    const [from, to] = [await createObject(), await createObject()]
    for (let n = 0; n < FILES; n += 1) {
      const bytes = new Uint8Array(FILE_BYTES).fill(n)
      new DataView(bytes.buffer).setUint32(0, n)
      await from.fs.writeFile(`/d${n % 40}/file-${n}`, bytes)
    }
    const identity = { session, workspace: 'box', workspaceId: 'box', providerId: 'any' }
    const source = { store: new FileBlocks(from.fs), scope: 's' }
    const taken = await bounded(() =>
      takeSnapshot(from.fs, source.store, { ...identity, ...source }),
    )
    const stage = { store: new DOSnapshotStore(to.storage), scope: 'stage' }
    await bounded(() => drain(source, taken.manifest))
    const pieces: Uint8Array[] = []
    await drain(source, taken.manifest, (piece) => pieces.push(piece))
    const { session: _, ...names } = { ...session, ...identity, createdAt: 0 }
    const imported = await bounded(() => importTar(streamOf(pieces), stage, { identity: names }))
    const manifest = await bounded(() =>
      stage.store.getManifest(stage.scope, imported.header.snapshotId),
    )
    await bounded(() => restoreSnapshot(manifest, stage.store, to.fs, stage))
    const again = { store: new FileBlocks(to.fs), scope: 's' }
    const found = await bounded(() => takeSnapshot(to.fs, again.store, { ...identity, ...again }))
    const compare = () => compareEntries(manifest.entries, found.manifest.entries)
    expect(await bounded(compare)).toEqual([])
    await stage.store.deleteManifest(stage.scope, manifest.header.snapshotId)
    const swept = await bounded(() => stage.store.sweep(stage.scope, { graceMs: 0 }))
    expect(swept).toMatchObject({ deletedBlocks: FILES, keptBlocks: 0 })
  },
)
