/** Version of the format that this release writes and reads. */
export const SNAPSHOT_FORMAT_VERSION = 1
/** Bytes of a block; only the last one of a file is smaller. */
export const SNAPSHOT_BLOCK_BYTES = 1024 * 1024

/** What a manifest may hold. A larger one is `invalid-manifest`. */
export interface SnapshotLimits {
  /** Default: 200,000. */
  readonly maxEntries: number
  /** Bytes of all files together. Default: 16 GiB. */
  readonly maxTotalBytes: number
}

/** The limits of manifests where none are given. */
export const snapshotLimits: SnapshotLimits = {
  maxEntries: 200_000,
  maxTotalBytes: 16 * 1024 ** 3,
}

/** A file of a snapshot. */
export interface SnapshotFile {
  /** Absolute in the workspace, normalised. */
  readonly path: string
  readonly type: 'file'
  /** Bytes. */
  readonly size: number
  /** SHA-256 of each block, in lower-case hexadecimal; empty for an empty file. */
  readonly blocks: readonly string[]
  /** Permission bits, 0 to 0o777. Absent: the provider has none. */
  readonly mode?: number
  /**
   * `FileStat.version` when it was read. The next snapshot of the same workspace does not read a
   * file again that still has it. No part of the digest.
   */
  readonly version?: string
}

/** A directory of a snapshot; the root is none. */
export interface SnapshotDirectory {
  readonly path: string
  readonly type: 'directory'
  readonly mode?: number
}

/** A symbolic link of a snapshot. */
export interface SnapshotLink {
  readonly path: string
  readonly type: 'symlink'
  /** Relative to the directory of the link; stays below the root; `..` stands only in front. */
  readonly target: string
}

/** What a snapshot holds for one path. */
export type SnapshotEntry = SnapshotFile | SnapshotDirectory | SnapshotLink

/** What can be listed of a snapshot without its entries. */
export interface SnapshotHeader {
  readonly formatVersion: typeof SNAPSHOT_FORMAT_VERSION
  /** Unguessable; unique in its scope. */
  readonly snapshotId: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly sessionId: string
  /** Name of the agent. */
  readonly agentType: string
  /** Name under which the agent declares the workspace. */
  readonly workspace: string
  /** Kind of the provider whose files these are. */
  readonly providerId: string
  /** `Workspace.id`: versions of files mean something only in the workspace they come from. */
  readonly workspaceId: string
  /** Id of the snapshot that this one was compared with. */
  readonly parent?: string
  /** It stays until it is removed, beyond the number that is kept otherwise. */
  readonly kept?: true
  readonly entries: number
  /** Bytes of all files together. */
  readonly bytes: number
  /** SHA-256 of the canonical entries: equal for equal trees. See `digestEntries`. */
  readonly digest: string
}

/** A snapshot without the bytes of its files. Entries are sorted by path (code point order). */
export interface SnapshotManifest {
  readonly header: SnapshotHeader
  readonly entries: readonly SnapshotEntry[]
}
