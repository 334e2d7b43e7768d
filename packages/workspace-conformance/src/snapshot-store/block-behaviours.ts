import { SNAPSHOT_BATCH_BLOCKS, SNAPSHOT_BLOCK_BYTES, sha256 } from '@helix-agents/core/provider'
import { check, ConformanceError, equal, equalBytes, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { blockOf, largestBlock, OTHER, SCOPE, storedTexts } from './snapshot-script.ts'
import type { SnapshotStoreSubject } from './snapshot-store-subject.ts'

export const blockBehaviours: readonly Behaviour<SnapshotStoreSubject>[] = [
  {
    id: 'snapshot-store/blocks/are-read-as-they-were-stored',
    run: async ({ store }) => {
      const blocks = [await blockOf('a'), await largestBlock()]
      await store.putBlocks(SCOPE, blocks)
      const hashes = blocks.map(({ hash }) => hash)
      const read = await store.getBlocks(SCOPE, hashes)
      for (const { hash, bytes } of blocks) equalBytes(read.get(hash) ?? new Uint8Array(), bytes)
    },
  },
  {
    id: 'snapshot-store/blocks/those-not-stored-are-not-found',
    run: async ({ store }) => {
      const [a, b] = [await blockOf('a'), await blockOf('b')]
      await store.putBlocks(SCOPE, [a])
      equal([...(await store.findBlocks(SCOPE, [b.hash, a.hash]))], [a.hash])
      equal([...(await store.getBlocks(SCOPE, [b.hash, a.hash])).keys()], [a.hash])
    },
  },
  {
    id: 'snapshot-store/blocks/a-full-batch-is-one-call',
    slow: true,
    run: async ({ store }) => {
      const texts = Array.from({ length: SNAPSHOT_BATCH_BLOCKS }, (_, index) => `${index}`)
      const blocks = await Promise.all(texts.map(blockOf))
      await store.putBlocks(SCOPE, blocks)
      const hashes = blocks.map(({ hash }) => hash)
      equal((await store.findBlocks(SCOPE, hashes)).size, SNAPSHOT_BATCH_BLOCKS)
      equal((await store.getBlocks(SCOPE, hashes)).size, SNAPSHOT_BATCH_BLOCKS)
    },
  },
  {
    id: 'snapshot-store/blocks/bytes-must-match-their-hash',
    run: async ({ store }) => {
      const [a, b] = [await blockOf('a'), await blockOf('b')]
      await rejectsWithCode('corrupt', () =>
        store.putBlocks(SCOPE, [{ hash: a.hash, bytes: b.bytes }]),
      )
      equal(await storedTexts(store, ['a', 'b']), [])
    },
  },
  {
    id: 'snapshot-store/blocks/none-is-over-a-mebibyte',
    run: async ({ store }) => {
      const bytes = new Uint8Array(SNAPSHOT_BLOCK_BYTES + 1)
      const block = { hash: await sha256(bytes), bytes }
      await rejectsWithCode('corrupt', () => store.putBlocks(SCOPE, [block]))
    },
  },
  {
    id: 'snapshot-store/blocks/do-not-share-memory-with-callers',
    run: async ({ store }) => {
      const { hash, bytes } = await blockOf('text')
      const given = bytes.slice()
      await store.putBlocks(SCOPE, [{ hash, bytes: given }])
      given.fill(0)
      const first = (await store.getBlocks(SCOPE, [hash])).get(hash)
      first?.fill(0)
      const second = (await store.getBlocks(SCOPE, [hash])).get(hash)
      equalBytes(second ?? new Uint8Array(), bytes)
    },
  },
  {
    id: 'snapshot-store/scopes/do-not-share-blocks',
    run: async ({ store }) => {
      const { hash } = await blockOf('secret')
      await store.putBlocks(OTHER, [await blockOf('secret')])
      equal((await store.findBlocks(SCOPE, [hash])).size, 0)
      equal((await store.getBlocks(SCOPE, [hash])).size, 0)
    },
  },
  {
    id: 'snapshot-store/scopes/may-have-any-name',
    run: async ({ store }) => {
      const names = ['..', '../other', '/', '.', 'a/b', 'A', 'a', 'ä', 'a\u0308', "'", '\0', '%00']
      for (const name of names) await store.putBlocks(name, [await blockOf(name)])
      for (const name of names) equal(await storedTexts(store, names, name), [name])
    },
  },
  {
    id: 'snapshot-store/scopes/have-a-name',
    run: async ({ store }) => {
      for (const scope of ['', 'x'.repeat(513), '\ud800']) {
        const call = (async () => store.putBlocks(scope, [await blockOf('a')]))()
        const [result] = await Promise.allSettled([call])
        if (result?.status !== 'rejected') throw new ConformanceError('expected a RangeError')
        check(result.reason instanceof RangeError, 'a RangeError')
      }
    },
  },
]
