import { type Clock, SnapshotStoreError } from '@helix-agents/core'
import { blocksOf, isBlockHash, parseManifest } from '@helix-agents/core/provider'
import { type Bucket, forAll } from './bucket.ts'
import { type ScopeKeys, timedKey, timeOf } from './scope-keys.ts'

/** A sweep deletes within this time of its mark, or stops. */
export const SWEEP_MS = 5 * 60_000
/** A mark that is older was left by a process that died. */
export const MARK_MS = 2 * SWEEP_MS
/** A snapshot is stored within this time, or fails. */
export const PENDING_MS = 30 * 60_000
const WAITS = 60
const WAIT_MS = 250

/** One scope of a bucket. */
export interface BucketScope {
  readonly bucket: Bucket
  readonly keys: ScopeKeys
  readonly clock: Clock
}

/** Stores a list of hashes under a key with the time. @returns the key */
export async function storeHashes(
  { bucket, clock }: BucketScope,
  folder: string,
  hashes: readonly string[],
): Promise<string> {
  const key = timedKey(folder, clock.now())
  await bucket.put(key, new TextEncoder().encode(JSON.stringify(hashes)))
  return key
}

/** Hashes of stored lists. One that was deleted meanwhile has none. */
export async function readHashes(
  bucket: Bucket,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>()
  for (const bytes of await forAll(keys, (key) => bucket.get(key))) {
    if (bytes === undefined) continue
    const text = new TextDecoder('latin1').decode(bytes)
    for (const [hash] of text.matchAll(/[0-9a-f]{64}/g)) hashes.add(hash)
  }
  return hashes
}

/** Those of the hashes that a sweep is about to delete. */
export async function condemnedOf(
  { bucket, keys, clock }: BucketScope,
  hashes: readonly string[],
): Promise<readonly string[]> {
  const marks = (await bucket.keys(keys.condemned)).filter(
    (key) => clock.now() - timeOf(key) < MARK_MS,
  )
  if (marks.length === 0) return []
  const condemned = await readHashes(bucket, marks)
  return hashes.filter((hash) => condemned.has(hash))
}

/**
 * Waits for the sweeps that are about to delete some of the blocks. What is stored before the call is
 * seen by every later sweep.
 * @throws {SnapshotStoreError} `unavailable` when they take too long.
 */
export async function untilNotCondemned(
  scope: BucketScope,
  hashes: readonly string[],
): Promise<void> {
  for (let waits = 0; waits < WAITS; waits += 1) {
    if ((await condemnedOf(scope, hashes)).length === 0) return
    await scope.clock.sleep(WAIT_MS)
  }
  throw new SnapshotStoreError('unavailable', 'a sweep takes too long')
}

/** The blocks of a scope, by hash, and their bytes. */
export async function listBlocks({ bucket, keys }: BucketScope): Promise<Map<string, number>> {
  const blocks = new Map<string, number>()
  for await (const { key, bytes } of bucket.list(keys.blocks)) {
    const hash = key.slice(keys.blocks.length)
    if (isBlockHash(hash)) blocks.set(hash, bytes)
  }
  return blocks
}

/** What the manifests of a scope name. Each is read once: none changes. */
export class NamedBlocks {
  readonly #scope: BucketScope
  readonly #read = new Set<string>()
  readonly #hashes = new Set<string>()

  constructor(scope: BucketScope) {
    this.#scope = scope
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  /** Reads those that were stored since. @throws {SnapshotStoreError} `corrupt` */
  async readNew(): Promise<void> {
    const { bucket, keys } = this.#scope
    const all = await bucket.keys(keys.manifests)
    for (const key of all.filter((one) => !this.#read.has(one))) {
      const bytes = await bucket.get(key)
      if (bytes !== undefined) await this.#add(bytes)
      this.#read.add(key)
    }
  }

  async #add(bytes: Uint8Array): Promise<void> {
    const { entries } = await readable(() => parseManifest(bytes))
    for (const hash of blocksOf(entries)) this.#hashes.add(hash)
  }
}

/** What the format rejects in a bucket was damaged there. */
export async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!SnapshotStoreError.isInstance(error)) throw error
    const detail = `a stored snapshot is damaged: ${error.message}`
    throw new SnapshotStoreError('corrupt', detail, { cause: error })
  }
}
