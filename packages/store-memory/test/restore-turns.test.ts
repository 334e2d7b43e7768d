// A large file is restored over several turns, although neither the store nor the target ever waits.
import { restoreSnapshot, SNAPSHOT_BLOCK_BYTES, takeSnapshot } from '@helix-agents/core/provider'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'

const BLOCKS = 16
/** Work between two blocks that takes more than a share of the event loop. */
const BUSY_MS = 10

test('other work runs between the blocks of a file', async () => {
  const source = new InMemoryFileSystem()
  const content = new Uint8Array(BLOCKS * SNAPSHOT_BLOCK_BYTES)
  await source.writeFile('/large', content)
  const store = new InMemorySnapshotStore()
  const session = { sessionId: 's', agentType: 'a' }
  const identity = { session, workspace: 'box', workspaceId: 'box', providerId: 'x', scope: 's' }
  const { manifest } = await takeSnapshot(source, store, identity)

  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  const target = new InMemoryFileSystem()
  target.writeStream = async (path, stream) => {
    setImmediate(count)
    for await (const _ of stream) {
      const until = performance.now() + BUSY_MS
      while (performance.now() < until);
    }
    isDone = true
    return target.writeFile(path, '')
  }
  await restoreSnapshot(manifest, store, target, { scope: 's' })
  expect(turns).toBeGreaterThan(BLOCKS / 2)
})
