// Between the filestore and memory, in a Durable Object: equal digests, nothing lost.
import { env } from 'cloudflare:workers'
import {
  type FileSystem,
  portableSnapshots,
  restoreSnapshot,
  SNAPSHOT_BLOCK_BYTES,
  takeSnapshot,
} from '@helix-agents/core/provider'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { inObject } from './objects.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

type Opened = (storage: DurableObjectStorage) => Promise<FileSystem>

const filestore: Opened = async (storage) => {
  const provider = createProvider(storage, { r2: env.BUCKET, inlineThresholdBytes: 100_000 })
  const owner = { ...session, sessionId: crypto.randomUUID() }
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, owner, openOptions())
  if (ws.fs === undefined) throw new Error('no files')
  return ws.fs
}
const memory: Opened = async () => new InMemoryFileSystem()

async function fill(fs: FileSystem): Promise<void> {
  const large = new Uint8Array(2 * SNAPSHOT_BLOCK_BYTES + 5).map((_, index) => index % 251)
  await fs.writeFile('/large', large)
  await fs.writeFile('/binary', new Uint8Array([0, 255, 254, 0]))
  for (const path of ['/empty', '/a/b', '/a!', '/é', '/e\u0301', '/\u{1f600}', '/new\nline']) {
    await fs.writeFile(path, path === '/empty' ? '' : path)
  }
  await fs.writeFile(`${'/d'.repeat(100)}/deep`, 'deep')
  await fs.mkdir('/nothing/below', { recursive: true })
}

const pairs: readonly (readonly [string, Opened, Opened])[] = [
  ['memory to filestore', memory, filestore],
  ['filestore to memory', filestore, memory],
  ['filestore to filestore', filestore, filestore],
]

test.each(pairs)('%s', (_, from, to) =>
  inObject(async (storage) => {
    const store = new InMemorySnapshotStore()
    const identity = { scope: 's', session, workspace: 'box', providerId: 'any' }
    const source = await from(storage)
    await fill(source)
    const taken = await takeSnapshot(source, store, { ...identity, workspaceId: 'a' })
    const target = await to(storage)
    const { losses } = await restoreSnapshot(taken.manifest, store, target, { scope: 's' })
    const again = await takeSnapshot(target, store, { ...identity, workspaceId: 'b' })
    expect([...taken.losses, ...losses]).toEqual([])
    expect(again.manifest.header.digest).toBe(taken.manifest.header.digest)
    // A second look reads no file again.
    const parent = again.manifest
    const third = await takeSnapshot(target, store, { ...identity, workspaceId: 'b', parent })
    expect(third).toMatchObject({ storedBlocks: 0, reusedFiles: 10 })
  }),
)

test('a restore makes a workspace beside the one of the session, also when that is empty', () =>
  inObject(async (storage) => {
    const store = new InMemorySnapshotStore()
    const provider = portableSnapshots(createProvider(storage), { store })
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    await ws.fs?.writeFile('/a', 'text')
    const snapshot = await ws.snapshot?.snapshot()
    await ws.fs?.rm('/a')
    if (snapshot === undefined) throw new Error('no snapshot')
    const ref = await ws.snapshot?.restore(snapshot)
    if (ref === undefined) throw new Error('not restored')
    expect(await ws.fs?.ls('/')).toEqual([])
    const restored = await provider.resolve(ref, { ...openOptions(), session })
    expect(await restored.ws.fs?.readFile('/a')).toEqual(new TextEncoder().encode('text'))
  }))

test('a namespace that the declaration names is neither filled nor closed by a restore', () =>
  inObject(async (storage) => {
    const store = new InMemorySnapshotStore()
    const provider = portableSnapshots(createProvider(storage), { store })
    const shared = { namespace: 'fixed', shareAcrossSessions: true } as const
    const config = { kind: 'cloudflare-filestore', ...shared } as const
    const { ws } = await provider.open(config, session, openOptions())
    const snapshot = await ws.snapshot?.snapshot()
    if (snapshot === undefined) throw new Error('no snapshot')
    await expect(ws.snapshot?.restore(snapshot)).rejects.toMatchObject({ code: 'provider-failed' })
    await ws.fs?.writeFile('/b', 'still there')
  }))
