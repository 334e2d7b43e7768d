import { SNAPSHOT_GRACE_MS, type SnapshotStore } from '@helix-agents/core/provider'
import { check, equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  blockOf,
  idOf,
  manifestOf,
  OTHER,
  SCOPE,
  storedTexts,
  storeSnapshot,
} from './snapshot-script.ts'
import type { SnapshotStoreSubject } from './snapshot-store-subject.ts'

const RACES = 20

/** Stores garbage, and a snapshot that is damaged then. @returns its id */
async function damageOne(
  store: SnapshotStore,
  damage: SnapshotStoreSubject['damageManifest'],
): Promise<string> {
  await store.putBlocks(SCOPE, [await blockOf('garbage')])
  const { snapshotId } = (await storeSnapshot(store, ['a'], { snapshotId: idOf(1) })).header
  await damage?.(snapshotId)
  return snapshotId
}

export const sweepBehaviours: readonly Behaviour<SnapshotStoreSubject>[] = [
  {
    id: 'snapshot-store/sweep/keeps-what-manifests-name',
    run: async ({ store, advance }) => {
      await storeSnapshot(store, ['a', 'b'], { snapshotId: idOf(1) })
      await storeSnapshot(store, ['b', 'c'], { snapshotId: idOf(2) })
      await advance(2 * SNAPSHOT_GRACE_MS)
      await store.deleteManifest(SCOPE, idOf(1))
      equal((await store.sweep(SCOPE)).keptBlocks, 2)
      equal(await storedTexts(store, ['b', 'c']), ['b', 'c'])
    },
  },
  {
    id: 'snapshot-store/sweep/frees-what-none-names',
    run: async ({ store, advance }) => {
      const { header } = await storeSnapshot(store, ['a', 'bcd'])
      await store.deleteManifest(SCOPE, header.snapshotId)
      await advance(SNAPSHOT_GRACE_MS)
      equal(await store.sweep(SCOPE), { deletedBlocks: 2, deletedBytes: 4, keptBlocks: 0 })
      equal(await storedTexts(store, ['a', 'bcd']), [])
    },
  },
  {
    id: 'snapshot-store/sweep/waits-for-the-grace-period',
    run: async ({ store, advance }) => {
      await store.putBlocks(SCOPE, [await blockOf('a')])
      await advance(SNAPSHOT_GRACE_MS - 1000)
      equal(await store.sweep(SCOPE), { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 1 })
      equal((await store.sweep(SCOPE, { graceMs: 1000 })).deletedBlocks, 1)
    },
  },
  {
    id: 'snapshot-store/sweep/a-block-that-is-found-stays',
    run: async ({ store, advance }) => {
      const a = await blockOf('a')
      await store.putBlocks(SCOPE, [a])
      await advance(SNAPSHOT_GRACE_MS)
      await store.findBlocks(SCOPE, [a.hash])
      equal((await store.sweep(SCOPE)).deletedBlocks, 0)
      await store.putManifest(SCOPE, await manifestOf([a]))
    },
  },
  {
    id: 'snapshot-store/sweep/a-block-that-is-put-again-stays',
    run: async ({ store, advance }) => {
      const a = await blockOf('a')
      await store.putBlocks(SCOPE, [a])
      await advance(SNAPSHOT_GRACE_MS)
      await store.putBlocks(SCOPE, [a])
      equal((await store.sweep(SCOPE)).deletedBlocks, 0)
    },
  },
  {
    id: 'snapshot-store/sweep/leaves-other-scopes-alone',
    run: async ({ store, advance }) => {
      await store.putBlocks(OTHER, [await blockOf('a')])
      await store.putBlocks(SCOPE, [await blockOf('a')])
      await advance(2 * SNAPSHOT_GRACE_MS)
      equal((await store.sweep(SCOPE)).deletedBlocks, 1)
      equal(await storedTexts(store, ['a'], OTHER), ['a'])
    },
  },
  {
    id: 'snapshot-store/sweep/a-manifest-wins-or-is-rejected',
    slow: true,
    run: async ({ store }) => {
      for (let race = 0; race < RACES; race += 1) {
        const [text, snapshotId] = [`${race}`, idOf(race)]
        const block = await blockOf(text)
        await store.putBlocks(SCOPE, [block])
        const manifest = await manifestOf([block], { snapshotId })
        const [put] = await Promise.allSettled([
          store.putManifest(SCOPE, manifest),
          store.sweep(SCOPE, { graceMs: 0 }),
        ])
        const stored = put.status === 'fulfilled'
        if (!stored) await rejectsWithCode('missing-blocks', () => Promise.reject(put.reason))
        const there = await storedTexts(store, [text])
        check(!stored || there.length === 1, 'a stored manifest to keep its blocks')
      }
    },
  },
  {
    id: 'snapshot-store/durable/snapshots-outlive-the-process',
    needs: ['durable'],
    run: async ({ store, reopen, advance }) => {
      const manifest = await storeSnapshot(store, ['a', 'b'])
      await store.putBlocks(SCOPE, [await blockOf('garbage')])
      await advance(2 * SNAPSHOT_GRACE_MS)
      const again = (await reopen?.()) ?? store
      equal(await again.getManifest(SCOPE, manifest.header.snapshotId), manifest)
      equal((await again.sweep(SCOPE)).deletedBlocks, 1)
      equal(await storedTexts(again, ['a', 'b', 'garbage']), ['a', 'b'])
    },
  },
  {
    id: 'snapshot-store/damage/a-changed-block-is-corrupt',
    needs: ['damage'],
    run: async ({ store, damageBlock }) => {
      const { hash } = await blockOf('a')
      await storeSnapshot(store, ['a'])
      await damageBlock?.(hash)
      await rejectsWithCode('corrupt', () => store.getBlocks(SCOPE, [hash]))
    },
  },
  {
    id: 'snapshot-store/damage/a-changed-manifest-is-corrupt',
    needs: ['damage'],
    run: async ({ store, damageManifest }) => {
      const { header } = await storeSnapshot(store, ['a'])
      await damageManifest?.(header.snapshotId)
      await rejectsWithCode('corrupt', () => store.getManifest(SCOPE, header.snapshotId))
    },
  },
  {
    id: 'snapshot-store/damage/a-changed-manifest-frees-nothing',
    needs: ['damage'],
    run: async ({ store, damageManifest, advance }) => {
      await damageOne(store, damageManifest)
      await advance(2 * SNAPSHOT_GRACE_MS)
      await Promise.allSettled([store.sweep(SCOPE)])
      equal(await storedTexts(store, ['a', 'garbage']), ['a', 'garbage'])
    },
  },
  {
    id: 'snapshot-store/damage/a-sweep-over-a-changed-manifest-is-corrupt',
    needs: ['damage'],
    run: async ({ store, damageManifest, advance }) => {
      await damageOne(store, damageManifest)
      await advance(2 * SNAPSHOT_GRACE_MS)
      await rejectsWithCode('corrupt', () => store.sweep(SCOPE))
    },
  },
  {
    id: 'snapshot-store/damage/a-changed-manifest-is-deleted-and-the-sweep-goes-on',
    needs: ['damage'],
    run: async ({ store, damageManifest, advance }) => {
      await storeSnapshot(store, ['b'], { snapshotId: idOf(2) })
      await advance(1000)
      const snapshotId = await damageOne(store, damageManifest)
      await advance(2 * SNAPSHOT_GRACE_MS)
      equal(await store.deleteManifest(SCOPE, snapshotId), true)
      equal((await store.sweep(SCOPE)).deletedBlocks, 2)
      equal(await storedTexts(store, ['a', 'b', 'garbage']), ['b'])
    },
  },
]
