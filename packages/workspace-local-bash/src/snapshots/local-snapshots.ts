import { join } from 'node:path'
import {
  type Clock,
  PolicyError,
  SnapshotStoreError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import type { OpenOptions, SessionRef, SnapshotRef } from '@helix-agents/core/provider'
import type { LocalBashIsolation } from '../config.ts'
import { unguessableName } from '../file-system/path/unguessable-name.ts'
import {
  detachedMarker,
  isOwnerAlive,
  isOwnerElsewhere,
  ownMarker,
  type OwnerMarker,
  writeOwner,
} from '../owner.ts'
import { toRef } from '../ref.ts'
import { endTree } from '../shell/processes/process-tree.ts'
import {
  createForkDirectory,
  removeDirectory,
  restoreDirectory,
  type WorkspaceDirectory,
  workspacesIn,
} from '../workspace-directory.ts'
import { fillTree } from './fill-tree.ts'
import {
  type ForkSource,
  LocalSnapshotter,
  type LocalSnapshotterParts,
} from './local-snapshotter.ts'
import { SnapshotLine } from './snapshot-line.ts'
import { parseSnapshotRef, toSnapshotRef } from './snapshot-ref.ts'
import { DirectorySnapshotStore } from './store/directory-snapshot-store.ts'

const GIBIBYTE = 1024 ** 3
const DEFAULT_MAX_SNAPSHOTS = 16
/** Lines whose counts are remembered. */
const MAX_LINES = 1024
const DEFAULT_MAX_BYTES = 8 * GIBIBYTE

/** Where a {@link LocalBashWorkspaceProvider} stores snapshots, and how many. */
export interface LocalBashSnapshotOptions {
  /**
   * Directory of the host; no path of a workspace may lead there. Default: `helix-snapshots-` and the
   * id of the user, beside the workspaces.
   */
  readonly directory?: string
  /**
   * Snapshots kept of a workspace and of those restored from it, at least 1; the oldest is dropped.
   * Default 16.
   */
  readonly maxSnapshots?: number
  /**
   * Bytes of the contents of these snapshots, equal ones counted once; the oldest are dropped. Default
   * 8 GiB.
   */
  readonly maxBytes?: number
}

/** A workspace whose directory is there, before its parts are made. */
export interface PlacedWorkspace {
  readonly directory: WorkspaceDirectory
  readonly isolation: LocalBashIsolation
  readonly marker: OwnerMarker
  readonly options: OpenOptions
  readonly session: SessionRef
}

/** Where snapshots are stored that no option puts elsewhere. */
export function snapshotDirectoryIn(tmpdirRoot: string): string {
  return join(tmpdirRoot, `helix-snapshots-${process.getuid?.() ?? 0}`)
}

/** The snapshots of all workspaces of a provider. */
export class LocalSnapshots {
  readonly #tmpdirRoot: string
  readonly #options: LocalBashSnapshotOptions
  readonly #store: DirectorySnapshotStore
  readonly #clock: Clock
  readonly #lines = new Map<string, SnapshotLine>()

  constructor(tmpdirRoot: string, clock: Clock, options: LocalBashSnapshotOptions = {}) {
    this.#tmpdirRoot = tmpdirRoot
    this.#clock = clock
    this.#options = options
    const directory = options.directory ?? snapshotDirectoryIn(tmpdirRoot)
    this.#store = new DirectorySnapshotStore({ directory, clock })
  }

  /** What takes and restores the snapshots of a workspace. */
  snapshotterOf(
    { directory, isolation, marker, options, session }: PlacedWorkspace,
    open: Pick<LocalSnapshotterParts, 'files' | 'shellRoot' | 'clock' | 'logger'>,
  ): LocalSnapshotter {
    const { env, line = unguessableName() } = marker
    return new LocalSnapshotter({
      ...open,
      line: this.#line(line),
      session,
      workspace: options.workspace,
      workspaceId: directory.name,
      find: (ref, wanted) => this.find(ref, { ...wanted, sessionId: session.sessionId }),
      fork: async (source) => {
        const fork = await this.fork(source, { env, line, isolation })
        return toRef({ directory: fork.directory.name, isolation })
      },
    })
  }

  /**
   * A stored snapshot that a session may restore.
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is not kept any more.
   * @throws {PolicyError} `cross-session`
   * @throws {SnapshotStoreError} `corrupt`
   */
  async find(
    ref: SnapshotRef,
    wanted: {
      readonly sessionId: string
      readonly allowCrossSession?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<ForkSource> {
    const { line: scope, id, digest, lost } = parseSnapshotRef(ref)
    const manifest = await this.#read(scope, id)
    if (manifest.header.sessionId !== wanted.sessionId && wanted.allowCrossSession !== true) {
      throw new PolicyError('cross-session', 'the snapshot was taken by another session', {
        hint: 'Restore a snapshot that this session took.',
      })
    }
    if (manifest.header.digest !== digest) {
      throw new SnapshotStoreError('corrupt', 'the stored snapshot is not the one that was taken')
    }
    return { manifest, scope, signal: wanted.signal, lost }
  }

  /**
   * Makes a workspace with the files of a snapshot. While it is filled its owner is this process, so
   * that what a crash leaves is found by the reaper; afterwards it is detached.
   * @param like Without a session it is of none until one attaches to it.
   */
  async fork(
    source: ForkSource,
    like: Omit<OwnerMarker, 'format' | 'process' | 'sinceMs'>,
  ): Promise<{ readonly directory: WorkspaceDirectory }> {
    const directory = createForkDirectory(this.#tmpdirRoot)
    try {
      const { lost } = source
      const details = { ...like, ...(lost !== undefined && { lost }) }
      const marker = ownMarker({ ...details, sinceMs: this.#clock.now() })
      writeOwner(directory.path, marker)
      restoreDirectory(directory)
      await fillTree(directory.root, { store: this.#store, ...source })
      source.signal?.throwIfAborted()
      writeOwner(directory.path, detachedMarker(marker, this.#clock.now()))
      return { directory }
    } catch (error) {
      await removeDirectory(directory.path)
      throw error
    }
  }

  /** Kept snapshots of a session. */
  async keptOf(sessionId: string): Promise<readonly SnapshotRef[]> {
    const refs: SnapshotRef[] = []
    for await (const scope of this.#store.scopes()) {
      for await (const { snapshotId: id, digest, ...header } of this.#store.manifests(scope)) {
        if (header.sessionId !== sessionId || header.kept !== true) continue
        refs.push(toSnapshotRef({ line: scope, id, digest }))
      }
    }
    return refs
  }

  /** Deletes a snapshot. One that is gone is no error. */
  async remove(scope: string, id: string): Promise<void> {
    await this.#line(scope).remove(id)
    await this.#freeUnused(scope)
  }

  /** Frees what a workspace that was closed leaves: see `releaseLine`; and what its session has left. */
  async release(closed: WorkspaceDirectory, { line, session }: OwnerMarker): Promise<void> {
    if (line === undefined || !(this.#store.holds(line) || closed.isFork)) return
    const others = this.#membersOf(line).filter(({ directory }) => directory.name !== closed.name)
    for (const { directory } of others.filter(({ marker }) => isLeft(marker, session))) {
      await endTree({ marker: `${directory.name}:`, places: [`${directory.scratch}/`] }, 0)
      await removeDirectory(directory.path)
    }
    await this.#freeUnused(line)
  }

  /** Frees the snapshots that none keeps, once no workspace is left that could restore them. */
  async releaseLine(line: string | undefined): Promise<void> {
    if (line !== undefined) await this.#freeUnused(line)
  }

  async #freeUnused(scope: string): Promise<void> {
    if (!this.#store.holds(scope) || this.#membersOf(scope).length > 0) return
    await this.#line(scope).deleteAllButKept()
    this.#lines.delete(scope)
  }

  #membersOf(line: string): ReturnType<typeof workspacesIn> {
    return workspacesIn(this.#tmpdirRoot).filter(({ marker }) => marker.line === line)
  }

  async #read(scope: string, id: string): Promise<ForkSource['manifest']> {
    try {
      return await this.#store.getManifest(scope, id)
    } catch (cause) {
      if (!SnapshotStoreError.isInstance(cause) || cause.code !== 'not-found') throw cause
      const { maxSnapshots = DEFAULT_MAX_SNAPSHOTS } = this.#options
      throw new WorkspaceFailedError('provider-failed', 'there is no such snapshot', {
        hint: `The last ${maxSnapshots} of a workspace are kept, fewer of large files. Take a new one.`,
        cause,
      })
    }
  }

  #line(scope: string): SnapshotLine {
    const { maxSnapshots = DEFAULT_MAX_SNAPSHOTS, maxBytes = DEFAULT_MAX_BYTES } = this.#options
    const bounds = { maxSnapshots, maxBytes }
    const line = this.#lines.get(scope) ?? new SnapshotLine(scope, this.#store, bounds)
    // What a line has counted is counted again.
    if (this.#lines.size >= MAX_LINES) this.#lines.clear()
    this.#lines.set(scope, line)
    return line
  }
}

/** Whether a session has a workspace that no process uses. */
function isLeft(marker: OwnerMarker, session: string | undefined): boolean {
  if (session === undefined || marker.session !== session) return false
  return !isOwnerAlive(marker) && !isOwnerElsewhere(marker)
}
