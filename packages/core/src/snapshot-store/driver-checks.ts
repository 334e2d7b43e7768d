import { SnapshotStoreError } from '../errors/snapshot-store-error.ts'
import { compareCodePoints } from '../modules/fs/path/path.ts'
import { sha256 } from './digest.ts'
import { SNAPSHOT_BLOCK_BYTES, type SnapshotEntry, type SnapshotHeader } from './manifest.ts'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotBlock,
  type SnapshotPage,
  type SnapshotPageQuery,
} from './snapshot-store.ts'

const HASH = /^[0-9a-f]{64}$/
const MAX_SCOPE_CHARACTERS = 512
const DEFAULT_PAGE = 100
const MAX_PAGE = 1000

/** @throws {RangeError} for a scope that is empty, too long or no valid text. */
export function parseScope(scope: string): string {
  if (scope !== '' && scope.length <= MAX_SCOPE_CHARACTERS && scope.isWellFormed()) return scope
  throw new RangeError(`a scope of snapshots has 1 to ${MAX_SCOPE_CHARACTERS} characters`)
}

/** Whether a text is a SHA-256 in lower-case hexadecimal: drivers make names of files of it. */
export function isBlockHash(text: string): boolean {
  return HASH.test(text)
}

/**
 * Checks the argument of `putBlocks`.
 * @param hashOf SHA-256 in lower-case hexadecimal. Default: that of the platform, by a thread.
 * @throws {SnapshotStoreError} `corrupt` when bytes do not match their hash or are over 1 MiB.
 * @throws {RangeError} for more than one call may carry.
 */
export async function checkSnapshotBlocks(
  blocks: readonly SnapshotBlock[],
  hashOf: (bytes: Uint8Array) => string | Promise<string> = sha256,
): Promise<void> {
  const total = blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (blocks.length > SNAPSHOT_BATCH_BLOCKS || total > SNAPSHOT_BATCH_BYTES) {
    throw new RangeError(
      `at most ${SNAPSHOT_BATCH_BLOCKS} blocks of ${SNAPSHOT_BATCH_BYTES} bytes are put in one call`,
    )
  }
  for (const block of blocks) await checkBlock(block, hashOf)
}

/** @throws {SnapshotStoreError} `corrupt` when bytes do not match their hash or are over 1 MiB. */
export async function checkBlock(
  { hash, bytes }: SnapshotBlock,
  hashOf: (bytes: Uint8Array) => string | Promise<string> = sha256,
): Promise<void> {
  if (bytes.length <= SNAPSHOT_BLOCK_BYTES && (await hashOf(bytes)) === hash) return
  throw new SnapshotStoreError('corrupt', `the bytes of block ${hash.slice(0, 64)} do not match it`)
}

/** Hashes of the blocks that entries name, each once. */
export function blocksOf(entries: readonly SnapshotEntry[]): ReadonlySet<string> {
  const hashes = new Set<string>()
  for (const entry of entries) {
    if (entry.type === 'file') for (const hash of entry.blocks) hashes.add(hash)
  }
  return hashes
}

/**
 * One page of a list.
 * @param keyOf Unique, and the list is sorted by it; the cursor of a page is the key of its last item.
 * @throws {RangeError} for a limit that is no whole number from 1 to 1,000.
 */
export function pageOf<Item>(
  items: readonly Item[],
  order: { readonly keyOf: (item: Item) => string; readonly newestFirst: boolean },
  query: SnapshotPageQuery,
): SnapshotPage<Item> {
  const limit = pageLimit(query)
  const { after } = query
  const isPast = (item: Item): boolean => {
    if (after === undefined) return true
    const distance = compareCodePoints(order.keyOf(item), after)
    return order.newestFirst ? distance < 0 : distance > 0
  }
  const start = items.findIndex(isPast)
  const page = start < 0 ? [] : items.slice(start, start + limit)
  const last = page.at(-1)
  const isLast = start + limit >= items.length || last === undefined
  return isLast ? { items: page } : { items: page, next: order.keyOf(last) }
}

/** Sorts snapshots by age: later ones have larger keys. */
export function snapshotKey({ createdAt, snapshotId }: SnapshotHeader): string {
  return `${String(createdAt).padStart(16, '0')}.${snapshotId}`
}

/** @throws {RangeError} for a limit that is no whole number from 1 to 1,000. */
export function pageLimit({ limit = DEFAULT_PAGE }: SnapshotPageQuery): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit
  throw new RangeError(`a page has 1 to ${MAX_PAGE} items, not ${limit}`)
}
