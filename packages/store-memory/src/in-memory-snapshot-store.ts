import { type Clock, SnapshotStoreError, systemClock } from '@helix-agents/core'
import {
  blocksOf,
  checkSnapshotBlocks,
  compareCodePoints,
  createTimeSlice,
  encodeManifest,
  pageOf,
  parseManifest,
  parseScope,
  snapshotKey,
  SNAPSHOT_GRACE_MS,
  type SnapshotBlock,
  type SnapshotHeader,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'

const DEFAULT_MAX_BYTES = 512 * 1024 * 1024

/** Options of {@link InMemorySnapshotStore}. */
export interface InMemorySnapshotStoreOptions {
  /** Bytes of all blocks and manifests. Default: 512 MiB. */
  readonly maxBytes?: number
  /** Default: the time of the machine. */
  readonly clock?: Clock
}

interface StoredBlock {
  readonly bytes: Uint8Array
  /** When it was stored or found. */
  usedAt: number
  /** Manifests that name it. */
  references: number
}

interface StoredManifest {
  readonly header: SnapshotHeader
  readonly bytes: Uint8Array
  readonly blocks: ReadonlySet<string>
}

interface Scope {
  readonly blocks: Map<string, StoredBlock>
  readonly manifests: Map<string, StoredManifest>
}

/** Snapshots in memory, gone with the process. */
export class InMemorySnapshotStore implements SnapshotStore {
  readonly #scopes = new Map<string, Scope>()
  readonly #maxBytes: number
  readonly #clock: Clock
  #bytes = 0

  constructor({ maxBytes = DEFAULT_MAX_BYTES, clock }: InMemorySnapshotStoreOptions = {}) {
    this.#maxBytes = maxBytes
    this.#clock = clock ?? systemClock
  }

  /** Bytes of all blocks and manifests. */
  get bytes(): number {
    return this.#bytes
  }

  async putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    await checkSnapshotBlocks(blocks)
    const stored = this.#open(scope).blocks
    for (const { hash, bytes } of blocks) {
      const there = stored.get(hash)
      if (there === undefined) {
        this.#takeRoom(bytes.length)
        stored.set(hash, { bytes: bytes.slice(), usedAt: this.#clock.now(), references: 0 })
      } else {
        there.usedAt = this.#clock.now()
      }
    }
  }

  async findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (const hash of hashes) {
      const block = this.#find(scope).blocks.get(hash)
      if (block === undefined) continue
      block.usedAt = this.#clock.now()
      found.add(hash)
    }
    return found
  }

  async getBlocks(
    scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    for (const hash of hashes) {
      const block = this.#find(scope).blocks.get(hash)
      if (block !== undefined) found.set(hash, block.bytes.slice())
    }
    return found
  }

  async putManifest(scope: string, manifest: SnapshotManifest): Promise<void> {
    const bytes = await encodeManifest(manifest)
    const { header, entries } = manifest
    const { blocks: stored, manifests } = this.#open(scope)
    if (manifests.has(header.snapshotId)) {
      throw new SnapshotStoreError('already-exists', 'a snapshot with this id is stored')
    }
    const blocks = blocksOf(entries)
    const there = [...blocks].map((hash) => stored.get(hash)).filter((one) => one !== undefined)
    if (there.length < blocks.size) {
      throw new SnapshotStoreError('missing-blocks', 'blocks of the snapshot are not stored')
    }
    this.#takeRoom(bytes.length)
    for (const block of there) block.references += 1
    manifests.set(header.snapshotId, { header, bytes, blocks })
  }

  async getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest> {
    const stored = this.#find(scope).manifests.get(snapshotId)
    if (stored !== undefined) return parseManifest(stored.bytes)
    throw new SnapshotStoreError('not-found', 'there is no such snapshot')
  }

  async listManifests(
    scope: string,
    query: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    const headers = [...this.#find(scope).manifests.values()].map(({ header }) => header)
    return pageOf(headers.toSorted(newestFirst), { keyOf: snapshotKey, newestFirst: true }, query)
  }

  async deleteManifest(scope: string, snapshotId: string): Promise<boolean> {
    const { blocks, manifests } = this.#find(scope)
    const manifest = manifests.get(snapshotId)
    if (manifest === undefined) return false
    manifests.delete(snapshotId)
    this.#bytes -= manifest.bytes.length
    for (const hash of manifest.blocks) {
      const block = blocks.get(hash)
      if (block !== undefined) block.references -= 1
    }
    return true
  }

  async listScopes(query: SnapshotPageQuery = {}): Promise<SnapshotPage<string>> {
    const held = [...this.#scopes].filter(
      ([, { blocks, manifests }]) => blocks.size + manifests.size > 0,
    )
    const names = held.map(([name]) => name).toSorted(compareCodePoints)
    return pageOf(names, { keyOf: (name) => name, newestFirst: false }, query)
  }

  async sweep(scope: string, options: SweepOptions = {}): Promise<SweepResult> {
    const { graceMs = SNAPSHOT_GRACE_MS, signal } = options
    const slice = createTimeSlice()
    const { blocks, manifests } = this.#find(scope)
    let deletedBlocks = 0
    let deletedBytes = 0
    for (const [hash, block] of blocks) {
      if (slice.due) await slice.pause()
      signal?.throwIfAborted()
      if (block.references > 0 || this.#clock.now() - block.usedAt < graceMs) continue
      if (!blocks.delete(hash)) continue
      deletedBlocks += 1
      deletedBytes += block.bytes.length
      this.#bytes -= block.bytes.length
    }
    if (blocks.size + manifests.size === 0) this.#scopes.delete(scope)
    return { deletedBlocks, deletedBytes, keptBlocks: blocks.size }
  }

  /** What is stored of a scope; nothing of one that holds nothing is kept. */
  #find(name: string): Scope {
    return this.#scopes.get(parseScope(name)) ?? { blocks: new Map(), manifests: new Map() }
  }

  #open(name: string): Scope {
    const scope = this.#find(name)
    this.#scopes.set(name, scope)
    return scope
  }

  /** @throws {SnapshotStoreError} `storage-full` */
  #takeRoom(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) {
      throw new SnapshotStoreError(
        'storage-full',
        `the store holds at most ${this.#maxBytes} bytes`,
      )
    }
    this.#bytes += bytes
  }
}

function newestFirst(a: SnapshotHeader, b: SnapshotHeader): number {
  return compareCodePoints(snapshotKey(b), snapshotKey(a))
}
