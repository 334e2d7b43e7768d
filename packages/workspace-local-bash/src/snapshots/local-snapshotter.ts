import {
  type Clock,
  type Logger,
  SnapshotStoreError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import {
  BlockWriter,
  digestEntries,
  SNAPSHOT_BLOCK_BYTES,
  SNAPSHOT_FORMAT_VERSION,
  type SessionRef,
  type SnapshotHeader,
  snapshotLimits,
  type SnapshotManifest,
  type SnapshotOptions,
  type SnapshotRef,
  type Snapshotter,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { FileContext } from '../file-system/file-context.ts'
import { unguessableName } from '../file-system/path/unguessable-name.ts'
import { PROVIDER_ID } from '../ref.ts'
import { KnownFiles } from './known-files.ts'
import { type ReadTree, readTree } from './read-tree.ts'
import type { SnapshotLine } from './snapshot-line.ts'
import { toSnapshotRef } from './snapshot-ref.ts'
import { sha256 } from './store/block-files.ts'

/** What the snapshots of one workspace need. */
export interface LocalSnapshotterParts {
  readonly line: SnapshotLine
  readonly files: FileContext
  readonly shellRoot: string
  readonly session: SessionRef
  /** Name under which the agent declares the workspace. */
  readonly workspace: string
  readonly workspaceId: string
  readonly clock: Clock
  readonly logger: Logger
  /** A snapshot that the session may restore. */
  find(ref: SnapshotRef, options: SnapshotOptions): Promise<ForkSource>
  /** Makes a workspace with the files of a snapshot. */
  fork(source: ForkSource): Promise<WorkspaceRef>
}

/** A snapshot that was found, and its scope in the store. */
export interface ForkSource {
  readonly manifest: SnapshotManifest
  readonly scope: string
  readonly signal: AbortSignal | undefined
  /** What the snapshot does not hold. */
  readonly lost: string | undefined
}

/** The newest snapshot of a workspace, and what it knows of the files. */
interface LastSnapshot {
  readonly header: SnapshotHeader
  readonly known: KnownFiles
}

/**
 * Snapshots of a directory: contents that changed are stored by their hash, all others are known by
 * the state of their file. Each file is in a snapshot as it was at one moment; commands that run
 * meanwhile may have changed one file and not yet another. What no snapshot can hold is logged.
 */
export class LocalSnapshotter implements Snapshotter {
  readonly #parts: LocalSnapshotterParts
  #turn: Promise<unknown> = Promise.resolve()
  #last: LastSnapshot | undefined

  constructor(parts: LocalSnapshotterParts) {
    this.#parts = parts
  }

  /**
   * @throws {WorkspaceFailedError} `provider-failed` for too many files or bytes.
   * @throws {SnapshotStoreError} `storage-full`, `unavailable`.
   */
  async snapshot(options: SnapshotOptions = {}): Promise<SnapshotRef> {
    options.signal?.throwIfAborted()
    const taken = this.#turn.then(() => this.#take(options))
    this.#turn = taken.catch(() => undefined)
    return taken
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is not kept any more.
   * @throws {PolicyError} `cross-session`
   * @throws {SnapshotStoreError} `corrupt`, `missing-blocks`, naming files.
   */
  async restore(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    options.signal?.throwIfAborted()
    const source = await this.#parts.find(ref, options)
    return this.#parts.fork(source)
  }

  async branch(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.restore(ref, options)
  }

  async #take(options: SnapshotOptions): Promise<SnapshotRef> {
    options.signal?.throwIfAborted()
    const { line } = this.#parts
    try {
      this.#last ??= await this.#loadLast()
      return await this.#takeAfter(this.#last, options)
    } catch (error) {
      this.#last = undefined
      line.leaveGarbage()
      if (!SnapshotStoreError.isInstance(error) || error.code !== 'missing-blocks') throw error
      // Another process has freed blocks meanwhile: every file is read.
      return this.#takeAfter(undefined, options)
    }
  }

  /** What an earlier process knew of this workspace. */
  async #loadLast(): Promise<LastSnapshot | undefined> {
    const { line, workspaceId } = this.#parts
    const header = await line.newestOf(workspaceId)
    if (header === undefined) return undefined
    const manifest = await line.store.getManifest(line.scope, header.snapshotId)
    return { header, known: KnownFiles.of(manifest) }
  }

  async #takeAfter(
    last: LastSnapshot | undefined,
    { signal, keep = false }: SnapshotOptions,
  ): Promise<SnapshotRef> {
    const { line, logger } = this.#parts
    const { maxBytes } = line.bounds
    const options = { hashOf: sha256, copies: true, maxBytes }
    const writer = new BlockWriter(line.store, line.scope, options)
    const known = last?.known ?? new KnownFiles()
    const tree = await this.#read(known, { writer, signal })
    await writer.flush()
    signal?.throwIfAborted()
    const manifest = await this.#toManifest(tree, keep, last?.header)
    await line.store.putManifest(line.scope, manifest)
    const { snapshotId: id, digest } = manifest.header
    this.#last = { header: manifest.header, known }
    const { list: losses, sentence: lost } = tree.losses
    if (losses.length > 0) logger.warn({ losses }, 'snapshot does not hold all of the workspace')
    await line.dropOldest(writer.storedBytes)
    return toSnapshotRef({ line: line.scope, id, digest, ...(lost !== undefined && { lost }) })
  }

  async #read(
    known: KnownFiles,
    { writer, signal }: { readonly writer: BlockWriter; readonly signal: AbortSignal | undefined },
  ): Promise<ReadTree> {
    const { files, shellRoot } = this.#parts
    const { maxEntries, maxTotalBytes } = snapshotLimits
    return readTree(files.containment.openRoot(), {
      root: files.containment.root,
      shellRoot,
      known,
      hasFineTimes: files.versions.isFine,
      content: {
        writer,
        buffer: new Uint8Array(SNAPSHOT_BLOCK_BYTES),
        signal,
        checkSize: (bytes) => {
          if (bytes > maxTotalBytes) throw tooMuch(`at most ${maxTotalBytes} bytes`)
        },
      },
      checkCount: (entries) => {
        if (entries > maxEntries) throw tooMuch(`at most ${maxEntries} files and directories`)
      },
    })
  }

  async #toManifest(
    { entries, bytes }: ReadTree,
    keep: boolean,
    parent: SnapshotHeader | undefined,
  ): Promise<SnapshotManifest> {
    const { session, workspace, workspaceId, clock } = this.#parts
    const header = {
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      snapshotId: unguessableName(),
      // Later than its parent, whatever the clock says: the oldest is deleted first.
      createdAt: Math.max(clock.now(), (parent?.createdAt ?? -1) + 1),
      sessionId: session.sessionId,
      agentType: session.agentType,
      workspace,
      providerId: PROVIDER_ID,
      workspaceId,
      ...(parent !== undefined && { parent: parent.snapshotId }),
      ...(keep && ({ kept: true } as const)),
      entries: entries.length,
      bytes,
      digest: await digestEntries(entries),
    } as const
    return { header, entries }
  }
}

function tooMuch(limit: string): WorkspaceFailedError {
  return new WorkspaceFailedError('provider-failed', `too many files for a snapshot: ${limit}`, {
    hint: 'Remove files that are not needed, or take none.',
  })
}
