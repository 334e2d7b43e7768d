import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import type { FileEntry, FileSystem } from '../../modules/fs/contract.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import type { SessionRef } from '../../workspace/provider.ts'
import { BlockWriter } from './block-writer.ts'
import { checkTree } from '../check-tree.ts'
import { digestEntries } from '../digest.ts'
import { inParallel } from '../in-parallel.ts'
import { byPath, type SnapshotLoss } from '../loss.ts'
import {
  SNAPSHOT_FORMAT_VERSION,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotLimits,
  snapshotLimits,
  type SnapshotManifest,
} from '../manifest.ts'
import { EntryReader } from './read-entry.ts'
import type { SnapshotStore } from '../snapshot-store.ts'
import { tooMany, walkTree } from './walk-tree.ts'

/** Paths that are read one beside the other, and asked for together where the provider can do so. */
const PATHS_TOGETHER = 512

/** Whose files are stored, where, and which of them. */
export interface TakeSnapshotOptions {
  /** Scope of the store. */
  readonly scope: string
  readonly session: SessionRef
  /** Name under which the agent declares the workspace. */
  readonly workspace: string
  /** `Workspace.id`. */
  readonly workspaceId: string
  /** Kind of the provider. */
  readonly providerId: string
  /**
   * An earlier snapshot in the same scope. Files of the same workspace that still have their version
   * are not read again. Default: none.
   */
  readonly parent?: SnapshotManifest
  /** Left out, in the syntax of `.gitignore`, relative to the root. Default: nothing. */
  readonly ignore?: readonly string[]
  /** Written to its header. Default: false. */
  readonly keep?: boolean
  readonly limits?: SnapshotLimits
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/** A snapshot that is stored, and what taking it did. */
export interface TakenSnapshot {
  readonly manifest: SnapshotManifest
  /** What the workspace has and the snapshot has not. Empty: all is in it. */
  readonly losses: readonly SnapshotLoss[]
  /** Blocks that were not in the store. */
  readonly storedBlocks: number
  readonly storedBytes: number
  /** Files that were not read, since the parent has their version. */
  readonly reusedFiles: number
}

/**
 * Stores the files of a workspace. Each file is in it as it was at one moment; commands that write
 * meanwhile may be in it in part. Memory does not grow with the size of files.
 *
 * @throws {SnapshotStoreError} `too-large`, `source-changed`, `storage-full`, `already-exists`.
 * @throws {FileSystemError} as the file system does; a path that is removed meanwhile is left out.
 */
export async function takeSnapshot(
  fs: FileSystem,
  store: SnapshotStore,
  options: TakeSnapshotOptions,
): Promise<TakenSnapshot> {
  try {
    return await take(fs, store, options)
  } catch (error) {
    const wasFreed = SnapshotStoreError.isInstance(error) && error.code === 'missing-blocks'
    if (!wasFreed || options.parent === undefined) throw error
    // The parent was deleted meanwhile and its blocks with it: every file is read.
    const { parent: _, ...withoutParent } = options
    return take(fs, store, withoutParent)
  }
}

async function take(
  fs: FileSystem,
  store: SnapshotStore,
  options: TakeSnapshotOptions,
): Promise<TakenSnapshot> {
  const { limits = snapshotLimits, ignore = [], signal } = options
  const { maxEntries } = limits
  const walked = await walkTree(fs.withoutLinks?.() ?? fs, {
    ignore,
    maxEntries,
    ...(signal && { signal }),
  })
  const writer = new BlockWriter(store, options.scope)
  const reader = new EntryReader(fs, writer, filesOf(options))
  const found: (SnapshotEntry | undefined)[] = walked.nodes.map(() => undefined)
  let bytes = 0
  for (let first = 0; first < walked.nodes.length; first += PATHS_TOGETHER) {
    const nodes = walked.nodes.slice(first, first + PATHS_TOGETHER)
    await reader.readAhead(nodes, signal)
    const read = async (node: FileEntry, index: number): Promise<void> => {
      const entry = await reader.read(node, signal)
      if (entry?.type === 'file') bytes += entry.size
      if (bytes > limits.maxTotalBytes) throw tooMany('bytes', limits.maxTotalBytes)
      found[first + index] = entry
    }
    await inParallel(nodes, read, { signal })
  }
  await writer.flush()
  const entries = found.filter((entry) => entry !== undefined)
  const manifest = await toManifest(entries, bytes, options)
  signal?.throwIfAborted()
  await store.putManifest(options.scope, manifest)
  const { storedBlocks, storedBytes } = writer
  const losses = await byPath([...walked.losses, ...reader.losses])
  return { manifest, losses, storedBlocks, storedBytes, reusedFiles: reader.reusedFiles }
}

/** Versions mean something only in the workspace that they come from. */
function filesOf(options: TakeSnapshotOptions): ReadonlyMap<string, SnapshotFile> {
  const { parent, workspaceId, providerId } = options
  const { header } = parent ?? {}
  if (header?.workspaceId !== workspaceId || header.providerId !== providerId) return new Map()
  const files = parent?.entries.filter((entry) => entry.type === 'file') ?? []
  return new Map(files.map((file) => [file.path, file]))
}

async function toManifest(
  entries: readonly SnapshotEntry[],
  bytes: number,
  options: TakeSnapshotOptions,
): Promise<SnapshotManifest> {
  const { session, workspace, workspaceId, providerId, parent } = options
  const { keep = false, clock = systemClock } = options
  const { problem } = await checkTree(entries)
  if (problem !== undefined) {
    throw new SnapshotStoreError('source-changed', `directories changed meanwhile: ${problem}`)
  }
  const header = {
    formatVersion: SNAPSHOT_FORMAT_VERSION,
    snapshotId: crypto.randomUUID(),
    // Later than its parent, also within a millisecond and by a clock that was set back: what is
    // the oldest is deleted first.
    createdAt: Math.max(clock.now(), (parent?.header.createdAt ?? -1) + 1),
    sessionId: session.sessionId,
    agentType: session.agentType,
    workspace,
    providerId,
    workspaceId,
    ...(parent !== undefined && { parent: parent.header.snapshotId }),
    ...(keep && ({ kept: true } as const)),
    entries: entries.length,
    bytes,
    digest: await digestEntries(entries),
  } as const
  return { header, entries }
}
