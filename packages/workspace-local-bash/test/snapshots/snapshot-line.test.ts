import { createHash } from 'node:crypto'
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotHeader } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { SnapshotLine } from '../../src/snapshots/snapshot-line.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()
const BLOCK_BYTES = 10
let clock: ManualClock
let store: DirectorySnapshotStore
beforeEach(() => {
  clock = new ManualClock(1_000_000)
  store = new DirectorySnapshotStore({ directory: directory(), clock })
})

const lineOf = (maxSnapshots: number, maxBytes = 1_000_000): SnapshotLine =>
  new SnapshotLine('line', store, { maxSnapshots, maxBytes })
const idOf = (n: number): string => `snapshot-${String(n).padStart(8, '0')}`

/** Stores the n-th snapshot, of one file with a content of its own. */
async function take(n: number, more: Partial<SnapshotHeader> = {}): Promise<void> {
  const bytes = new Uint8Array(BLOCK_BYTES).fill(n)
  const hash = createHash('sha256').update(bytes).digest('hex')
  await store.putBlocks('line', [{ hash, bytes }])
  const file = { path: '/f', type: 'file', size: BLOCK_BYTES, blocks: [hash] } as const
  await store.putManifest('line', await manifestOf(idOf(n), [file], { createdAt: n, ...more }))
}
async function kept(): Promise<readonly number[]> {
  const numbers: number[] = []
  for await (const { createdAt } of store.manifests('line')) numbers.push(createdAt)
  return numbers
}
const blocks = async (): Promise<number> => (await store.blockBytes('line')) / BLOCK_BYTES

describe('the snapshots of a line', () => {
  it('have a newest one for each workspace', async () => {
    await take(1, { workspaceId: 'one' })
    await take(2, { workspaceId: 'other' })
    await take(3, { workspaceId: 'one' })
    const line = lineOf(5)
    expect((await line.newestOf('one'))?.createdAt).toBe(3)
    expect((await line.newestOf('other'))?.createdAt).toBe(2)
    expect(await line.newestOf('none')).toBeUndefined()
  })
  it('are no more than so many; kept ones do not count', async () => {
    for (const n of [1, 2, 3, 4]) await take(n, n === 1 ? { kept: true } : {})
    const line = lineOf(3)
    await line.dropOldest(0)
    expect(await kept()).toEqual([4, 3, 2, 1])
    await take(5)
    await line.dropOldest(0)
    expect(await kept()).toEqual([5, 4, 3, 1])
  })
  it('are measured when those over the bounds are deleted', async () => {
    for (const n of [1, 2]) await take(n)
    const deleting = Promise.withResolvers<boolean>()
    vi.spyOn(store, 'deleteManifest').mockReturnValueOnce(deleting.promise)
    const measure = vi.spyOn(store, 'blockBytes')
    const dropping = lineOf(1).dropOldest(0)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
    expect(measure).not.toHaveBeenCalled()
    deleting.resolve(true)
    await dropping
    expect(measure).toHaveBeenCalledOnce()
  })
  it('are measured when what one of them left is freed', async () => {
    const sweeping = Promise.withResolvers<never>()
    vi.spyOn(store, 'sweep').mockReturnValueOnce(sweeping.promise)
    const line = lineOf(1)
    line.leaveGarbage()
    let isOver = false
    const dropping = line.dropOldest(0).finally(() => (isOver = true))
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
    expect(isOver).toBe(false)
    const failure = new Error('no disk')
    sweeping.reject(failure)
    await expect(dropping).rejects.toBe(failure)
  })
  it('leave their blocks to the eighth that is deleted, and to the grace period', async () => {
    const line = lineOf(1)
    for (let n = 1; n <= 8; n += 1) {
      await take(n)
      await line.dropOldest(BLOCK_BYTES)
      await clock.advance(10_000)
    }
    expect([await kept(), await blocks()]).toEqual([[8], 8])
    await take(9)
    await line.dropOldest(BLOCK_BYTES)
    // Those that were wanted within the last minute stay.
    expect(await blocks()).toBe(6)
  })
  it('stay when it is enough to free what nothing refers to', async () => {
    for (const n of [1, 2, 3]) await take(n)
    await store.deleteManifest('line', idOf(3))
    const line = lineOf(5, 2 * BLOCK_BYTES)
    await line.dropOldest(0)
    expect([await kept(), await blocks()]).toEqual([[2, 1], 2])
  })
  it('leave the blocks of one that failed to the next', async () => {
    const line = lineOf(1)
    await take(1)
    await store.deleteManifest('line', idOf(1))
    await clock.advance(60_000)
    await take(2)
    line.leaveGarbage()
    await line.dropOldest(BLOCK_BYTES)
    expect(await blocks()).toBe(1)
  })
  it('have no more than so many bytes: the oldest go, never the newest', async () => {
    for (const n of [1, 2, 3]) await take(n)
    await lineOf(5, 3 * BLOCK_BYTES).dropOldest(0)
    expect(await kept()).toEqual([3, 2, 1])
    await lineOf(5, 3 * BLOCK_BYTES - 1).dropOldest(0)
    expect([await kept(), await blocks()]).toEqual([[3, 2], 2])
    await lineOf(5, 1).dropOldest(0)
    expect([await kept(), await blocks()]).toEqual([[3], 1])
  })
  it('count what was added since they were measured', async () => {
    const line = lineOf(5, 2 * BLOCK_BYTES)
    await take(1)
    await line.dropOldest(0)
    for (const n of [2, 3]) {
      await take(n)
      await line.dropOldest(BLOCK_BYTES)
    }
    expect([await kept(), await blocks()]).toEqual([[3, 2], 2])
  })
  it('that are removed one by one are swept after eight', async () => {
    const line = lineOf(20)
    for (let n = 1; n <= 9; n += 1) await take(n)
    await clock.advance(60_000)
    for (let n = 1; n <= 7; n += 1) await line.remove(idOf(n))
    expect(await blocks()).toBe(9)
    await line.remove(idOf(8))
    expect([await kept(), await blocks()]).toEqual([[9], 1])
  })
  it('are all deleted at the end, but for kept ones and what these name', async () => {
    await take(1)
    await take(2, { kept: true })
    await lineOf(5).deleteAllButKept()
    // It is done when it has returned.
    const names = readdirSync(directory(), { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => /blocks\/..\/.{62}$/.test(name))).toHaveLength(1)
    expect([await kept(), await blocks()]).toEqual([[2], 1])
    await store.deleteManifest('line', idOf(2))
    await lineOf(5).deleteAllButKept()
    expect(store.holds('line')).toBe(false)
  })
  it('free nothing while one of them is damaged', async () => {
    for (const n of [1, 2]) await take(n)
    const scope = join(directory(), createHash('sha256').update('line').digest('hex'))
    const key = `${'2'.padStart(16, '0')}.${idOf(2)}`
    truncateSync(join(scope, 'manifests', key), 400)
    await lineOf(1, BLOCK_BYTES).dropOldest(0)
    expect(await blocks()).toBe(2)
  })
})
