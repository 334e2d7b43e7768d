// Namespaces that are removed in steps: whoever removes them waits for the last one. In Node.
import type { OpenedWorkspace, Snapshotter } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const
/** More than one transaction removes. */
const MANY = 10_001

async function open(maxSnapshots = 16) {
  const storage = new NodeStorage()
  const provider = createProvider(storage, { maxSnapshots })
  const opened = await provider.open(config, session, openOptions())
  const count = (table: string): number => {
    const [row] = storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).toArray()
    return Number(row?.n)
  }
  return { storage, provider, opened, snapshotter: snapshotterOf(opened), count }
}

function snapshotterOf({ ws }: OpenedWorkspace): Snapshotter {
  if (ws.snapshot === undefined) throw new Error('no snapshots')
  return ws.snapshot
}

/** Directories in each namespace that is there. */
function plant(storage: NodeStorage): void {
  storage.sql.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
      INSERT INTO helix_fs_nodes
      SELECT s.id, '/', 'd' || i, NULL, 0, 0, 0, 0, 0 FROM n, helix_fs_namespaces s`,
  )
}

test('closing a workspace removes its snapshots and itself', async () => {
  const { storage, opened, snapshotter, count } = await open()
  await snapshotter.snapshot()
  await snapshotter.snapshot()
  plant(storage)
  await opened.ws.close()
  expect(['namespaces', 'nodes', 'removals'].map((name) => count(`helix_fs_${name}`))).toEqual([
    0, 0, 0,
  ])
})

test('the oldest snapshot is gone when the next one is there', async () => {
  const { storage, snapshotter, count } = await open(1)
  await snapshotter.snapshot()
  plant(storage)
  await snapshotter.snapshot()
  expect([count('helix_fs_namespaces'), count('helix_fs_removals')]).toEqual([2, 0])
  expect(count('helix_fs_nodes')).toBe(2 * MANY)
})

test('a kept snapshot is gone when its removal settles, and so is all of an object', async () => {
  const { storage, provider, snapshotter, count } = await open()
  const kept = await snapshotter.snapshot({ keep: true })
  plant(storage)
  await provider.history.remove(kept)
  expect([count('helix_fs_nodes'), count('helix_fs_removals')]).toEqual([MANY, 0])
  await provider.deleteNamespaces()
  expect([count('helix_fs_nodes'), count('helix_fs_namespaces')]).toEqual([0, 0])
})

test('an object is empty when its namespaces are deleted, also of what a crash has left', async () => {
  const { storage, provider, snapshotter, count } = await open()
  await snapshotter.snapshot({ keep: true })
  plant(storage)
  // The first step of a removal, after which the isolate was gone.
  storage.sql.exec('INSERT INTO helix_fs_removals SELECT max(id) FROM helix_fs_namespaces')
  storage.sql.exec(
    'DELETE FROM helix_fs_namespaces WHERE id = (SELECT max(id) FROM helix_fs_namespaces)',
  )
  await provider.deleteNamespaces()
  expect([count('helix_fs_nodes'), count('helix_fs_removals')]).toEqual([0, 0])
})

test.each([
  [10, 'in one step'],
  [MANY, 'in several'],
])('contents that no file has any more go with their workspace: %i files, %s', async (files) => {
  const { storage, opened, count } = await open()
  const { fs } = opened.ws
  await fs?.writeFile('/a', 'left')
  const reading = await fs?.readStream('/a')
  await fs?.rm('/a')
  if (files === MANY) plant(storage)
  expect([count('helix_fs_unlinked'), count('helix_fs_blocks')]).toEqual([1, 1])
  // Another isolate: nobody reads there.
  const { sql } = storage
  const other = createProvider({
    sql: { exec: (statement, ...bindings) => sql.exec(statement, ...bindings) },
    transactionSync: (work) => storage.transactionSync(work),
  })
  const { ws } = await other.resolve(opened.ref, { ...openOptions(), session })
  await ws.close()
  expect([count('helix_fs_unlinked'), count('helix_fs_blocks')]).toEqual([0, 0])
  await reading?.cancel()
})

test('a content that is read is there until its reader has ended', async () => {
  const { opened, count } = await open()
  const { fs } = opened.ws
  await fs?.writeFile('/a', 'read')
  const reading = await fs?.readStream('/a')
  await fs?.rm('/a')
  await opened.ws.close()
  expect([count('helix_fs_unlinked'), count('helix_fs_blocks')]).toEqual([1, 1])
  await reading?.cancel()
  expect([count('helix_fs_unlinked'), count('helix_fs_blocks')]).toEqual([0, 0])
})
