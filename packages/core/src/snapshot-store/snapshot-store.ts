import type { SnapshotHeader, SnapshotManifest } from './manifest.ts'

/** Content of files, named by its SHA-256 in lower-case hexadecimal. At most 1 MiB. */
export interface SnapshotBlock {
  readonly hash: string
  readonly bytes: Uint8Array
}

/** Which part of a list is asked for. */
export interface SnapshotPageQuery {
  /** Default: 100; at most 1,000. */
  readonly limit?: number
  /** `next` of the page before. Default: from the start. */
  readonly after?: string
}

/** One page of a list. */
export interface SnapshotPage<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly next?: string
}

/** Options of a sweep. */
export interface SweepOptions {
  /**
   * Milliseconds for which a block stays after it was stored or found by `findBlocks`, although no
   * manifest names it: a snapshot that is being taken finishes within them. Default: one hour.
   */
  readonly graceMs?: number
  readonly signal?: AbortSignal
}

/** What a sweep did. */
export interface SweepResult {
  readonly deletedBlocks: number
  readonly deletedBytes: number
  /** Blocks that a manifest names, or that are within the grace period. */
  readonly keptBlocks: number
}

/** Default of `SweepOptions.graceMs`. */
export const SNAPSHOT_GRACE_MS = 60 * 60 * 1000

/** At most so many blocks are put, found or read in one call. */
export const SNAPSHOT_BATCH_BLOCKS = 256
/** At most so many bytes are put or read in one call. */
export const SNAPSHOT_BATCH_BYTES = 8 * 1024 * 1024

/**
 * Stores snapshots: manifests, and the blocks that they name.
 *
 * Every call is about one scope, such as a session or a tenant. Nothing of another scope can be
 * seen, so knowing a hash or an id gives nothing. A scope is 1 to 512 characters.
 *
 * A snapshot exists once its manifest does: blocks first, the manifest last. Every method throws
 * `SnapshotStoreError`, `unavailable` when the store does not answer.
 */
export interface SnapshotStore {
  /**
   * Stores blocks; one that is there already starts its grace period again.
   * @throws {SnapshotStoreError} `corrupt` when bytes do not match their hash, `storage-full`.
   */
  putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void>
  /** Those of the hashes that are stored. Their grace period starts again. */
  findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * The blocks that are there, by hash.
   * @throws {SnapshotStoreError} `corrupt` when stored bytes do not match their hash.
   */
  getBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /**
   * Stores a manifest, once every block that it names is there. From then on no sweep takes these.
   * @throws {SnapshotStoreError} `missing-blocks`, `already-exists`, `storage-full`; `invalid-manifest` for a
   * header that could not be read again.
   */
  putManifest(scope: string, manifest: SnapshotManifest): Promise<void>
  /** @throws {SnapshotStoreError} `not-found`, `corrupt`. */
  getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest>
  /** Headers, the newest first. @throws {SnapshotStoreError} `corrupt`. */
  listManifests(scope: string, query?: SnapshotPageQuery): Promise<SnapshotPage<SnapshotHeader>>
  /** Deletes a manifest; a sweep frees its blocks. False: there was none. */
  deleteManifest(scope: string, snapshotId: string): Promise<boolean>
  /** Scopes that hold anything, sorted. */
  listScopes(query?: SnapshotPageQuery): Promise<SnapshotPage<string>>
  /**
   * Frees the blocks that no manifest names, after their grace period.
   * @throws {SnapshotStoreError} `corrupt` when a manifest cannot be read, since what it names is not
   * known: delete it first.
   */
  sweep(scope: string, options?: SweepOptions): Promise<SweepResult>
}
