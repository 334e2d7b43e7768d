// Each clause of the contract of `SnapshotStore` is caught where a store breaks it.
import { HelixError, SnapshotStoreError } from '@helix-agents/core'
import type {
  SnapshotBlock,
  SnapshotManifest,
  SnapshotStore,
  SweepOptions,
} from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { ConformanceError } from '@helix-agents/workspace-conformance'
import {
  snapshotStoreBehaviours,
  type SnapshotStoreSubject,
} from '@helix-agents/workspace-conformance/store'
import { describe, expect, test } from 'vitest'
import { InMemorySnapshotStore } from '../src/index.ts'

type Saboteur = (good: SnapshotStore) => Partial<SnapshotStore>

const oneScope =
  (rename: (scope: string) => string): Saboteur =>
  (good) => ({
    putBlocks: (scope, blocks) => good.putBlocks(rename(scope), blocks),
    getBlocks: (scope, hashes) => good.getBlocks(rename(scope), hashes),
    findBlocks: (scope, hashes) => good.findBlocks(rename(scope), hashes),
    putManifest: (scope, manifest) => good.putManifest(rename(scope), manifest),
    getManifest: (scope, id) => good.getManifest(rename(scope), id),
    listManifests: (scope, query) => good.listManifests(rename(scope), query),
    deleteManifest: (scope, id) => good.deleteManifest(rename(scope), id),
  })

/** Blocks as a store keeps them that checks nothing. */
const unchecked: Saboteur = () => {
  const kept = new Map<string, Uint8Array>()
  return {
    putBlocks: async (_, blocks) => {
      for (const { hash, bytes } of blocks) kept.set(hash, bytes)
    },
    findBlocks: async (_, hashes) => new Set(hashes.filter((hash) => kept.has(hash))),
    getBlocks: async (_, hashes) => pick(kept, hashes),
  }
}

function pick(kept: ReadonlyMap<string, Uint8Array>, hashes: readonly string[]) {
  const found = new Map<string, Uint8Array>()
  for (const hash of hashes) {
    const bytes = kept.get(hash)
    if (bytes !== undefined) found.set(hash, bytes)
  }
  return found
}

const ignoresMissing: Saboteur = (good) => ({
  putManifest: async (scope, manifest) => {
    await good.putManifest(scope, { ...manifest, entries: [] })
  },
})

const sweepsAll: Saboteur = (good) => {
  const swept = new Set<string>()
  const put = new Set<string>()
  return {
    putBlocks: async (scope, blocks) => {
      for (const { hash } of blocks) put.add(`${scope} ${hash}`)
      await good.putBlocks(scope, blocks)
    },
    sweep: async (scope) => {
      const gone = [...put].filter((key) => key.startsWith(`${scope} `))
      for (const key of gone) swept.add(key)
      return { deletedBlocks: gone.length, deletedBytes: 0, keptBlocks: 0 }
    },
    getBlocks: async (scope, hashes) =>
      good.getBlocks(
        scope,
        hashes.filter((hash) => !swept.has(`${scope} ${hash}`)),
      ),
  }
}

const saboteurs: Readonly<Record<string, Saboteur>> = {
  'snapshot-store/blocks/are-read-as-they-were-stored': (good) => ({
    getBlocks: async (scope, hashes) => {
      const cut = [...(await good.getBlocks(scope, hashes))].map(
        ([hash, bytes]) => [hash, bytes.slice(0, 65_536)] as const,
      )
      return new Map(cut)
    },
  }),
  'snapshot-store/blocks/those-not-stored-are-not-found': () => ({
    findBlocks: async (_, hashes) => new Set(hashes),
  }),
  'snapshot-store/blocks/a-full-batch-is-one-call': (good) => ({
    findBlocks: (scope, hashes) => good.findBlocks(scope, hashes.slice(0, 100)),
  }),
  'snapshot-store/blocks/bytes-must-match-their-hash': unchecked,
  'snapshot-store/blocks/none-is-over-a-mebibyte': unchecked,
  'snapshot-store/blocks/do-not-share-memory-with-callers': unchecked,
  'snapshot-store/scopes/do-not-share-blocks': oneScope(() => 'one'),
  'snapshot-store/scopes/may-have-any-name': oneScope((scope) => scope.normalize('NFC')),
  'snapshot-store/scopes/have-a-name': oneScope((scope) =>
    `x${scope.slice(0, 100)}`.toWellFormed(),
  ),
  'snapshot-store/manifests/are-read-as-they-were-stored': (good) => ({
    getManifest: async (scope, id) => withoutVersions(await good.getManifest(scope, id)),
  }),
  'snapshot-store/manifests/may-be-large': (good) => ({
    putManifest: async (scope, manifest) => {
      if (manifest.entries.length > 10_000) throw new SnapshotStoreError('storage-full', 'a row')
      await good.putManifest(scope, manifest)
    },
  }),
  'snapshot-store/manifests/name-only-stored-blocks': ignoresMissing,
  'snapshot-store/manifests/name-no-blocks-of-another-scope': ignoresMissing,
  'snapshot-store/manifests/are-never-replaced': (good) => ({
    putManifest: async (scope, manifest) => {
      await good.deleteManifest(scope, manifest.header.snapshotId)
      await good.putManifest(scope, manifest)
    },
  }),
  'snapshot-store/manifests/are-not-seen-in-another-scope': oneScope(() => 'one'),
  'snapshot-store/manifests/hostile-ids-are-not-stored': (good) => ({
    putManifest: async (scope, { header, entries }) => {
      const snapshotId = header.snapshotId.slice(0, 128)
      await good.putManifest(scope, { header: { ...header, snapshotId }, entries })
    },
  }),
  'snapshot-store/manifests/hostile-ids-are-not-found': (good) => ({
    deleteManifest: async (scope, id) => {
      if (id !== '*') return good.deleteManifest(scope, id)
      for (const header of (await good.listManifests(scope)).items) {
        await good.deleteManifest(scope, header.snapshotId)
      }
      return true
    },
  }),
  'snapshot-store/manifests/newest-are-listed-first': (good) => ({
    listManifests: async (scope, query) => {
      const page = await good.listManifests(scope, query)
      return { ...page, items: page.items.toReversed() }
    },
  }),
  'snapshot-store/manifests/are-listed-in-pages': (good) => ({
    listManifests: async (scope) => good.listManifests(scope),
  }),
  'snapshot-store/manifests/are-deleted': () => ({ deleteManifest: async () => true }),
  'snapshot-store/scopes/are-listed': (good) => ({
    listScopes: async () => good.listScopes(),
  }),
  'snapshot-store/sweep/keeps-what-manifests-name': sweepsAll,
  'snapshot-store/sweep/frees-what-none-names': () => ({
    sweep: async () => ({ deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }),
  }),
  'snapshot-store/sweep/waits-for-the-grace-period': (good) => ({
    sweep: (scope, options) => good.sweep(scope, { ...options, graceMs: 0 }),
  }),
  'snapshot-store/sweep/a-block-that-is-found-stays': (good) => ({
    findBlocks: async (scope, hashes) => new Set((await good.getBlocks(scope, hashes)).keys()),
  }),
  'snapshot-store/sweep/a-block-that-is-put-again-stays': (good) => ({
    putBlocks: async (scope, blocks) => {
      const there = await good.getBlocks(
        scope,
        blocks.map(({ hash }) => hash),
      )
      const fresh = blocks.filter(({ hash }: SnapshotBlock) => !there.has(hash))
      await good.putBlocks(scope, fresh)
    },
  }),
  'snapshot-store/sweep/leaves-other-scopes-alone': (good) => ({
    sweep: async (scope, options) => {
      await good.sweep('other', options)
      return good.sweep(scope, options)
    },
  }),
  'snapshot-store/sweep/a-manifest-wins-or-is-rejected': sweepsAll,
  'snapshot-store/durable/snapshots-outlive-the-process': (good) => ({
    getManifest: async (scope, id) => withoutVersions(await good.getManifest(scope, `${id}0`)),
  }),
  'snapshot-store/damage/a-changed-block-is-corrupt': (good) => ({
    getBlocks: async (scope, hashes) => {
      const found = await Promise.allSettled([good.getBlocks(scope, hashes)])
      return found[0].status === 'fulfilled' ? found[0].value : new Map()
    },
  }),
  'snapshot-store/damage/a-changed-manifest-is-corrupt': () => ({
    getManifest: () => Promise.reject(new SnapshotStoreError('not-found', 'gone')),
  }),
  'snapshot-store/damage/a-changed-manifest-frees-nothing': sweepsAll,
  'snapshot-store/damage/a-sweep-over-a-changed-manifest-is-corrupt': () => ({
    sweep: async () => ({ deletedBlocks: 0, deletedBytes: 0, keptBlocks: 2 }),
  }),
  'snapshot-store/damage/a-changed-manifest-is-deleted-and-the-sweep-goes-on': (good) => ({
    deleteManifest: async (scope, id) => {
      await good.getManifest(scope, id)
      return good.deleteManifest(scope, id)
    },
  }),
}

function withoutVersions({ header, entries }: SnapshotManifest): SnapshotManifest {
  return {
    header,
    entries: entries.map((entry) => (entry.type === 'file' ? { ...entry, version: '' } : entry)),
  }
}

function createSubject(sabotage?: Saboteur): SnapshotStoreSubject {
  const clock = new ManualClock()
  const good = new DamagedStore(clock)
  const methods = bound(good)
  const store = { ...methods, ...sabotage?.(methods) }
  return {
    store,
    advance: (ms) => clock.advance(ms),
    reopen: async () => store,
    damageBlock: async (hash) => void good.damaged.add(hash),
    damageManifest: async (id) => void good.damaged.add(id),
  }
}

/** Memory is not damaged by itself: what a test names is reported so. */
class DamagedStore extends InMemorySnapshotStore {
  readonly damaged = new Set<string>()

  constructor(clock: ManualClock) {
    super({ clock })
  }

  override async getBlocks(scope: string, hashes: readonly string[]) {
    if (hashes.some((hash) => this.damaged.has(hash))) throw corrupt()
    return super.getBlocks(scope, hashes)
  }

  override async getManifest(scope: string, snapshotId: string) {
    if (this.damaged.has(snapshotId)) throw corrupt()
    return super.getManifest(scope, snapshotId)
  }

  override async sweep(scope: string, options?: SweepOptions) {
    const { items } = await super.listManifests(scope)
    if (items.some(({ snapshotId }) => this.damaged.has(snapshotId))) throw corrupt()
    return super.sweep(scope, options)
  }
}

function corrupt(): SnapshotStoreError {
  return new SnapshotStoreError('corrupt', 'damaged')
}

function bound(store: SnapshotStore): SnapshotStore {
  return {
    putBlocks: store.putBlocks.bind(store),
    findBlocks: store.findBlocks.bind(store),
    getBlocks: store.getBlocks.bind(store),
    putManifest: store.putManifest.bind(store),
    getManifest: store.getManifest.bind(store),
    listManifests: store.listManifests.bind(store),
    deleteManifest: store.deleteManifest.bind(store),
    listScopes: store.listScopes.bind(store),
    sweep: store.sweep.bind(store),
  }
}

test('each behaviour has a saboteur', () => {
  const ids = snapshotStoreBehaviours.map(({ id }) => id)
  expect(Object.keys(saboteurs).toSorted()).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
})

describe.each(snapshotStoreBehaviours)('$id', (behaviour) => {
  test('accepts the reference', async () => {
    await expect(behaviour.run(createSubject())).resolves.toBeUndefined()
  })

  test('rejects its saboteur', async () => {
    const broken = createSubject(saboteurs[behaviour.id])
    await expect(behaviour.run(broken)).rejects.toSatisfy(
      (error) => error instanceof ConformanceError || HelixError.isInstance(error),
    )
  })
})
