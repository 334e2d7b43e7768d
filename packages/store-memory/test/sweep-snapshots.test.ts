import { createHash } from 'node:crypto'
import { SNAPSHOT_GRACE_MS, type SnapshotBlock } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { InMemorySnapshotStore } from '../src/index.ts'

function blockOf(text: string): SnapshotBlock {
  const bytes = new TextEncoder().encode(text)
  return { hash: createHash('sha256').update(bytes).digest('hex'), bytes }
}

const blocks = Array.from({ length: 20 }, (_, index) => blockOf(`block ${index}`))

/** A clock on which each look takes longer than a sweep may hold the process. */
class SlowClock extends ManualClock {
  isSlow = false

  override now(): number {
    const until = performance.now() + 9
    while (this.isSlow && performance.now() < until);
    return super.now()
  }
}

async function filled() {
  const clock = new SlowClock()
  const store = new InMemorySnapshotStore({ clock })
  await store.putBlocks('s', blocks.slice(0, 4))
  await clock.advance(SNAPSHOT_GRACE_MS)
  clock.isSlow = true
  return { clock, store }
}

test('a long sweep lets other work go on, and two of them free each block once', async () => {
  const { store } = await filled()
  let turns = 0
  setImmediate(() => turns++)
  const [one, two] = await Promise.all([store.sweep('s'), store.sweep('s')])
  expect(turns).toBe(1)
  expect([one.deletedBlocks + two.deletedBlocks, store.bytes]).toEqual([4, 0])
  expect(one.deletedBytes + two.deletedBytes).toBe(4 * 'block 0'.length)
})

test('a sweep that is aborted frees no more', async () => {
  const { store } = await filled()
  const stop = new AbortController()
  const sweeping = store.sweep('s', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(sweeping).rejects.toThrow('enough')
  expect(store.bytes).toBeGreaterThan(0)
  await expect(store.sweep('s', { signal: stop.signal })).rejects.toThrow('enough')
})

test('a block is free from the end of its grace period on', async () => {
  const clock = new ManualClock()
  const store = new InMemorySnapshotStore({ clock })
  await store.putBlocks('s', blocks.slice(0, 1))
  await clock.advance(SNAPSHOT_GRACE_MS - 1)
  expect(await store.sweep('s')).toEqual({ deletedBlocks: 0, deletedBytes: 0, keptBlocks: 1 })
  await clock.advance(1)
  expect(await store.sweep('s')).toEqual({ deletedBlocks: 1, deletedBytes: 7, keptBlocks: 0 })
  expect(await store.listScopes()).toEqual({ items: [] })
})

test('blocks fill the store to its last byte, and no further', async () => {
  const store = new InMemorySnapshotStore({ maxBytes: 14 })
  await store.putBlocks('s', blocks.slice(0, 2))
  expect(store.bytes).toBe(14)
  await store.putBlocks('s', blocks.slice(0, 2))
  await expect(store.putBlocks('s', [blockOf('x')])).rejects.toMatchObject({
    code: 'storage-full',
    message: expect.stringContaining('at most 14 bytes'),
  })
  await store.sweep('s', { graceMs: 0 })
  expect(store.bytes).toBe(0)
  await store.putBlocks('s', [blockOf('x')])
  expect(store.bytes).toBe(1)
})
