import type { SnapshotEntry } from '@helix-agents/core/provider'
import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  blockOf,
  idOf,
  manifestOf,
  manifestOfEntries,
  OTHER,
  SCOPE,
  storeSnapshot,
} from './snapshot-script.ts'
import type { SnapshotStoreSubject } from './snapshot-store-subject.ts'

/** More bytes than one value of the smallest database holds. */
const MANY_ENTRIES = 20_000

export const manifestBehaviours: readonly Behaviour<SnapshotStoreSubject>[] = [
  {
    id: 'snapshot-store/manifests/are-read-as-they-were-stored',
    run: async ({ store }) => {
      const { hash } = await blockOf('a')
      const entries: readonly SnapshotEntry[] = [
        { path: '/d', type: 'directory', mode: 0o700 },
        { path: '/d/l', type: 'symlink', target: '../f' },
        { path: '/f', type: 'file', size: 1, blocks: [hash], mode: 0o644, version: 'v"1\n' },
        { path: '/é\u{1f600}', type: 'file', size: 0, blocks: [] },
      ]
      const manifest = await manifestOfEntries(entries)
      await store.putBlocks(SCOPE, [await blockOf('a')])
      await store.putManifest(SCOPE, manifest)
      equal(await store.getManifest(SCOPE, manifest.header.snapshotId), manifest)
    },
  },
  {
    id: 'snapshot-store/manifests/may-be-large',
    run: async ({ store }) => {
      const names = Array.from({ length: MANY_ENTRIES }, (_, index) => String(index))
      const directories = names.map((name) => ({
        path: `/${name.padStart(6, '0')}-${'x'.repeat(100)}`,
        type: 'directory' as const,
      }))
      const manifest = await manifestOfEntries(directories)
      await store.putManifest(SCOPE, manifest)
      const read = await store.getManifest(SCOPE, manifest.header.snapshotId)
      equal(read.header, manifest.header)
      equal(read.entries.length, MANY_ENTRIES)
    },
  },
  {
    id: 'snapshot-store/manifests/name-only-stored-blocks',
    run: async ({ store }) => {
      const [a, b] = [await blockOf('a'), await blockOf('b')]
      await store.putBlocks(SCOPE, [a])
      const manifest = await manifestOf([a, b])
      await rejectsWithCode('missing-blocks', () => store.putManifest(SCOPE, manifest))
      await rejectsWithCode('not-found', () => store.getManifest(SCOPE, manifest.header.snapshotId))
      equal(await store.listManifests(SCOPE), { items: [] })
    },
  },
  {
    id: 'snapshot-store/manifests/name-no-blocks-of-another-scope',
    run: async ({ store }) => {
      const a = await blockOf('a')
      await store.putBlocks(OTHER, [a])
      const manifest = await manifestOf([a])
      await rejectsWithCode('missing-blocks', () => store.putManifest(SCOPE, manifest))
    },
  },
  {
    id: 'snapshot-store/manifests/are-never-replaced',
    run: async ({ store }) => {
      const first = await storeSnapshot(store, ['a'])
      await rejectsWithCode('already-exists', () => storeSnapshot(store, ['b']))
      equal(await store.getManifest(SCOPE, first.header.snapshotId), first)
    },
  },
  {
    id: 'snapshot-store/manifests/are-not-seen-in-another-scope',
    run: async ({ store }) => {
      const { header } = await storeSnapshot(store, ['a'], { scope: OTHER })
      await rejectsWithCode('not-found', () => store.getManifest(SCOPE, header.snapshotId))
      equal(await store.listManifests(SCOPE), { items: [] })
      equal(await store.deleteManifest(SCOPE, header.snapshotId), false)
      equal((await store.listManifests(OTHER)).items, [header])
    },
  },
  {
    id: 'snapshot-store/manifests/hostile-ids-are-not-stored',
    run: async ({ store }) => {
      for (const id of [
        'short',
        '../../../../../../outside',
        'x'.repeat(129),
        `id-${'0'.repeat(16)}\0`,
      ]) {
        const manifest = await manifestOf([], { snapshotId: id })
        await rejectsWithCode('invalid-manifest', () => store.putManifest(SCOPE, manifest))
      }
      equal(await store.listManifests(SCOPE), { items: [] })
    },
  },
  {
    id: 'snapshot-store/manifests/hostile-ids-are-not-found',
    run: async ({ store }) => {
      await storeSnapshot(store, ['a'])
      for (const id of ['', '.', '..', '../scope', '%', '*', 'x'.repeat(300), '\0', "' OR 1=1"]) {
        await rejectsWithCode('not-found', () => store.getManifest(SCOPE, id))
        equal(await store.deleteManifest(SCOPE, id), false)
      }
      equal((await store.listManifests(SCOPE)).items.length, 1)
    },
  },
  {
    id: 'snapshot-store/manifests/newest-are-listed-first',
    run: async ({ store }) => {
      for (const age of [3, 1, 2]) {
        await storeSnapshot(store, [], { snapshotId: idOf(age), createdAt: 10 ** (5 - age) })
      }
      const { items } = await store.listManifests(SCOPE)
      equal(
        items.map(({ snapshotId }) => snapshotId),
        [idOf(1), idOf(2), idOf(3)],
      )
    },
  },
  {
    id: 'snapshot-store/manifests/are-listed-in-pages',
    run: async ({ store }) => {
      for (const number of [1, 2, 3, 4, 5]) {
        await storeSnapshot(store, [], { snapshotId: idOf(number), createdAt: 5 })
      }
      const first = await store.listManifests(SCOPE, { limit: 2 })
      // What a cursor points at may be gone by the next page.
      await store.deleteManifest(SCOPE, first.items[1]?.snapshotId ?? '')
      const rest = await store.listManifests(SCOPE, { limit: 3, after: first.next ?? '' })
      const found = [...first.items, ...rest.items].map(({ snapshotId }) => snapshotId)
      equal(found.toSorted(), [1, 2, 3, 4, 5].map(idOf))
      equal([first.items.length, rest.next], [2, undefined])
    },
  },
  {
    id: 'snapshot-store/manifests/are-deleted',
    run: async ({ store }) => {
      const { header } = await storeSnapshot(store, ['a'])
      equal(await store.deleteManifest(SCOPE, header.snapshotId), true)
      equal(await store.deleteManifest(SCOPE, header.snapshotId), false)
      await rejectsWithCode('not-found', () => store.getManifest(SCOPE, header.snapshotId))
      equal(await store.listManifests(SCOPE), { items: [] })
    },
  },
  {
    id: 'snapshot-store/scopes/are-listed',
    run: async ({ store }) => {
      for (const scope of ['c', 'a', '../b']) await storeSnapshot(store, ['a'], { scope })
      const first = await store.listScopes({ limit: 2 })
      const rest = await store.listScopes({ after: first.next ?? '' })
      equal([...first.items, ...rest.items], ['../b', 'a', 'c'])
    },
  },
]
