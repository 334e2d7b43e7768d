import { SnapshotStoreError } from '@helix-agents/core'
import {
  blocksOf,
  checkBlock,
  checkSnapshotBlocks,
  encodeManifest,
  isBlockHash,
  pageLimit,
  parseHeader,
  parseManifest,
  type SnapshotBlock,
  type SnapshotHeader,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import { Bucket, forAll } from './bucket.ts'
import { type BucketSettings, parseOptions, type S3SnapshotStoreOptions } from './bucket-options.ts'
import { headKey, isSnapshotId, keysOf, nameInKey } from './scope-keys.ts'
import {
  type BucketScope,
  condemnedOf,
  listBlocks,
  PENDING_MS,
  readable,
  storeHashes,
  untilNotCondemned,
} from './scope-state.ts'
import { putMarker, sweepScope } from './sweep-scope.ts'

/**
 * Snapshots in a bucket that speaks S3: Amazon S3, Cloudflare R2, MinIO and others. Any number of
 * processes and machines may use it. The bucket must list what it has just stored, as all of these do.
 */
export class S3SnapshotStore implements SnapshotStore {
  readonly #settings: BucketSettings
  readonly #bucket: Bucket

  /**
   * Sends nothing until its first call.
   * @throws {TypeError} for a URL or credentials that are none.
   * @throws {RangeError} for a number or a prefix that cannot be used.
   */
  constructor(options: S3SnapshotStoreOptions) {
    this.#settings = parseOptions(options)
    this.#bucket = new Bucket(this.#settings)
  }

  async putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    const own = await this.#scope(scope)
    await checkSnapshotBlocks(blocks)
    const byHash = new Map(blocks.map((block) => [block.hash, block]))
    const hashes = [...byHash.keys()]
    if (hashes.length === 0) return
    await Promise.all([putMarker(own), storeHashes(own, own.keys.uses, hashes)])
    await untilNotCondemned(own, hashes)
    await forAll([...byHash.values()], ({ hash, bytes }) =>
      own.bucket.put(`${own.keys.blocks}${hash}`, bytes, hash),
    )
  }

  async findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const own = await this.#scope(scope)
    const wanted = [...new Set(hashes)].filter(isBlockHash)
    if (wanted.length === 0) return new Set()
    await storeHashes(own, own.keys.uses, wanted)
    const condemned = new Set(await condemnedOf(own, wanted))
    const left = wanted.filter((hash) => !condemned.has(hash))
    const areThere = await forAll(left, (hash) => own.bucket.has(`${own.keys.blocks}${hash}`))
    return new Set(left.filter((_, index) => areThere[index]))
  }

  async getBlocks(
    scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const { bucket, keys } = await this.#scope(scope)
    const found = new Map<string, Uint8Array>()
    await forAll([...new Set(hashes)].filter(isBlockHash), async (hash) => {
      const bytes = await bucket.get(`${keys.blocks}${hash}`)
      if (bytes === undefined) return
      await checkBlock({ hash, bytes })
      found.set(hash, bytes)
    })
    return found
  }

  async putManifest(scope: string, manifest: SnapshotManifest): Promise<void> {
    const own = await this.#scope(scope)
    const { bucket, keys, clock } = own
    const encoded = await encodeManifest(manifest)
    const hashes = [...blocksOf(manifest.entries)]
    const key = `${keys.manifests}${manifest.header.snapshotId}`
    if (await bucket.has(key)) throw alreadyExists()
    const startedAt = clock.now()
    const [pending] = await Promise.all([storeHashes(own, keys.pending, hashes), putMarker(own)])
    try {
      await untilNotCondemned(own, hashes)
      const stored = hashes.length === 0 ? new Map() : await listBlocks(own)
      if (hashes.some((hash) => !stored.has(hash))) {
        throw new SnapshotStoreError('missing-blocks', 'blocks of the snapshot are not stored')
      }
      if (clock.now() - startedAt > PENDING_MS) {
        throw new SnapshotStoreError('unavailable', 'storing the snapshot took too long')
      }
      if (!(await bucket.putNew(key, encoded))) throw alreadyExists()
      const header = new TextEncoder().encode(JSON.stringify(manifest.header))
      await bucket.put(headKey(keys, manifest.header), header)
    } finally {
      await bucket.delete(pending)
    }
  }

  async getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest> {
    const { bucket, keys } = await this.#scope(scope)
    const bytes = isSnapshotId(snapshotId)
      ? await bucket.get(`${keys.manifests}${snapshotId}`)
      : undefined
    if (bytes === undefined) throw new SnapshotStoreError('not-found', 'there is no such snapshot')
    return readable(() => parseManifest(bytes))
  }

  async listManifests(
    scope: string,
    query: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    const { bucket, keys } = await this.#scope(scope)
    const { shown, next } = await this.#page(keys.heads, query, `${keys.heads}${query.after ?? ''}`)
    const read = await forAll(shown, async (key) => {
      const bytes = await bucket.get(key)
      if (bytes === undefined) return []
      return [await readable(async () => parseHeader(new TextDecoder().decode(bytes)))]
    })
    const cursor = next?.slice(keys.heads.length)
    return { items: read.flat(), ...(cursor !== undefined && { next: cursor }) }
  }

  async deleteManifest(scope: string, snapshotId: string): Promise<boolean> {
    const { bucket, keys } = await this.#scope(scope)
    const key = `${keys.manifests}${snapshotId}`
    if (!isSnapshotId(snapshotId) || !(await bucket.has(key))) return false
    await bucket.delete(key)
    const heads = await bucket.keys(keys.heads)
    const own = heads.filter((head) => head.endsWith(`.${snapshotId}`))
    await forAll(own, (head) => bucket.delete(head))
    return true
  }

  async listScopes(query: SnapshotPageQuery = {}): Promise<SnapshotPage<string>> {
    const { prefix } = this.#settings
    const { after } = query
    const start = after === undefined || after === '' ? '' : (await keysOf(prefix, after)).marker
    const { shown, next } = await this.#page(`${prefix}scopes/`, query, start)
    const names = await forAll(shown, async (key) => {
      const name = nameInKey(key, prefix)
      if (name !== undefined) return [name]
      const bytes = await this.#bucket.get(key)
      return bytes === undefined ? [] : [new TextDecoder().decode(bytes)]
    })
    const items = names.flat()
    const last = next === undefined ? undefined : items.at(-1)
    return { items, ...(last !== undefined && { next: last }) }
  }

  async sweep(scope: string, options: SweepOptions = {}): Promise<SweepResult> {
    return sweepScope(await this.#scope(scope), options)
  }

  async #scope(scope: string): Promise<BucketScope> {
    const { prefix, clock } = this.#settings
    return { bucket: this.#bucket, clock, keys: await keysOf(prefix, scope) }
  }

  /** Keys of one page; `next` is the last of them when there are more. */
  async #page(
    folder: string,
    query: SnapshotPageQuery,
    after: string,
  ): Promise<{ readonly shown: readonly string[]; readonly next?: string }> {
    const limit = pageLimit(query)
    const shown: string[] = []
    for await (const { key } of this.#bucket.list(folder, after === '' ? undefined : after)) {
      const last = shown.at(-1)
      if (shown.length === limit && last !== undefined) return { shown, next: last }
      shown.push(key)
    }
    return { shown }
  }
}

function alreadyExists(): SnapshotStoreError {
  return new SnapshotStoreError('already-exists', 'a snapshot with this id is stored')
}
