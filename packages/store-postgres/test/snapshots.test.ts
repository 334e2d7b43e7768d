import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import {
  SNAPSHOT_GRACE_MS,
  sha256,
  type SnapshotBlock,
  verifySnapshots,
} from '@helix-agents/core/provider'
import { defineConformance } from '@helix-agents/workspace-conformance'
import {
  snapshotStoreBehaviours,
  type SnapshotStoreSubject,
} from '@helix-agents/workspace-conformance/store'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { emptiedPlace, emptyPlace, opened, query } from './opened.ts'
import { raceManifest } from './snapshot-race.ts'

/** A store whose time stands still until the suite moves it. */
async function openSubject(): Promise<SnapshotStoreSubject> {
  const url = await emptiedPlace()
  const time = { nowMs: 1_700_000_000_000 }
  const clock = { ...systemClock, now: () => time.nowMs }
  const options = { leaseClock: 'caller', clock } as const
  const first = await opened(url, options)
  const damage = async (statement: string, value: string): Promise<void> => {
    await query(url, statement, [value])
  }
  return {
    store: first.snapshotStore,
    advance: async (ms) => void (time.nowMs += ms),
    reopen: async () => {
      await first.close()
      return (await opened(url, options)).snapshotStore
    },
    damageBlock: (hash) =>
      damage("UPDATE helix_snapshot_blocks SET bytes = '\\x00' WHERE hash = $1", hash),
    damageManifest: (id) =>
      damage(
        `UPDATE helix_snapshot_manifests SET bytes = set_byte(bytes, octet_length(bytes) - 20,
           get_byte(bytes, octet_length(bytes) - 20) # 1) WHERE snapshot_id = $1`,
        id,
      ),
  }
}

describe('PostgresSnapshotStore', () => {
  defineConformance({ it, fails: it.fails }, snapshotStoreBehaviours, {
    create: openSubject,
    offers: ['durable', 'damage'],
  })
})

async function blockOf(bytes: number, fill: number): Promise<SnapshotBlock> {
  const content = new Uint8Array(bytes).fill(fill)
  return { hash: await sha256(content), bytes: content }
}

test('a scope over its limit is full, and what it has stays', async () => {
  const url = await emptyPlace()
  const { snapshotStore } = await opened(url, { snapshots: { maxScopeBytes: 3000 } })
  const [small, large] = [await blockOf(2000, 1), await blockOf(2000, 2)]
  await snapshotStore.putBlocks('s', [small])
  await snapshotStore.putBlocks('s', [small])
  await expect(snapshotStore.putBlocks('s', [large])).rejects.toMatchObject({
    code: 'storage-full',
  })
  expect([...(await snapshotStore.findBlocks('s', [small.hash, large.hash]))]).toEqual([small.hash])
  await snapshotStore.putBlocks('other', [large])
  expect(await snapshotStore.sweep('s', { graceMs: 0 })).toMatchObject({ deletedBytes: 2000 })
  await snapshotStore.putBlocks('s', [large])
  const scopes = await query(url, 'SELECT bytes FROM helix_snapshot_scopes')
  expect(scopes).toEqual([{ bytes: '2000' }, { bytes: '2000' }])
})

test('a limit that is none, and a database that is gone, have names', async () => {
  const url = await emptyPlace()
  const stores = await opened(url)
  await expect(opened(url, { snapshots: { maxScopeBytes: 0 } })).rejects.toThrow(RangeError)
  await stores.close()
  const late = stores.snapshotStore.listScopes()
  await expect(late).rejects.toMatchObject({ name: 'SnapshotStoreError', code: 'unavailable' })
})

test('the clock of the server decides what a sweep takes', async () => {
  const clock = { ...systemClock, now: () => Date.now() + 10 * SNAPSHOT_GRACE_MS }
  const { snapshotStore } = await opened(await emptyPlace(), { clock })
  await snapshotStore.putBlocks('s', [await blockOf(1, 1)])
  expect(await snapshotStore.sweep('s')).toMatchObject({ deletedBlocks: 0, keptBlocks: 1 })
})

test('two processes store snapshots and sweep: no manifest loses a block', async () => {
  const url = await emptyPlace()
  const { snapshotStore } = await opened(url)
  const child = spawn(
    process.execPath,
    ['--conditions=@helix-agents/source', join(import.meta.dirname, 'snapshot-race.ts'), url],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const outcomes = new Set<string>()
  for (let round = 0; round < 60; round += 1) {
    outcomes.add(await raceManifest(snapshotStore, round))
  }
  child.kill('SIGKILL')
  await once(child, 'close')
  const verified = await verifySnapshots(snapshotStore, 'race')
  expect(verified.damaged).toEqual([])
  expect(verified.snapshots).toBeGreaterThan(0)
  expect([...outcomes].every((one) => one === 'stored' || one === 'missing-blocks')).toBe(true)
})
