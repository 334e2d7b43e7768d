import { join } from 'node:path'
import { type Clock, WorkspaceFailedError } from '@helix-agents/core'
import type { OpenOptions, SessionRef } from '@helix-agents/core/provider'
import type { LocalBashIsolation } from '../config.ts'
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
  membersOf,
  removeDirectory,
  restoreDirectory,
  type WorkspaceDirectory,
} from '../workspace-directory.ts'
import { fillTree } from './fill-tree.ts'
import {
  type ForkSource,
  LocalSnapshotter,
  type LocalSnapshotterParts,
} from './local-snapshotter.ts'
import { SnapshotLine } from './snapshot-line.ts'
import { DirectorySnapshotStore } from './store/directory-snapshot-store.ts'

const GIBIBYTE = 1024 ** 3

/** Where a {@link LocalBashWorkspaceProvider} stores snapshots, and how many. */
export interface LocalBashSnapshotOptions {
  /**
   * Directory of the host; no path of a workspace may lead there. Default: `helix-snapshots` and the
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

  constructor(tmpdirRoot: string, clock: Clock, options: LocalBashSnapshotOptions = {}) {
    this.#tmpdirRoot = tmpdirRoot
    this.#clock = clock
    this.#options = options
    const directory = options.directory ?? snapshotDirectoryIn(tmpdirRoot)
    this.#store = new DirectorySnapshotStore({ directory, clock })
    const { maxSnapshots = 1, maxBytes = 1 } = options
    if (!Number.isInteger(maxSnapshots) || maxSnapshots < 1 || !(maxBytes > 0)) {
      const problem =
        'snapshots.maxSnapshots must be a whole number of 1 or more, and maxBytes positive'
      throw new WorkspaceFailedError('config-invalid', problem)
    }
  }

  /** What takes and restores the snapshots of a workspace. */
  snapshotterOf(
    { directory, isolation, marker, options, session }: PlacedWorkspace,
    open: Pick<LocalSnapshotterParts, 'files' | 'shellRoot' | 'clock' | 'logger'>,
  ): LocalSnapshotter {
    return new LocalSnapshotter({
      ...open,
      line: this.#line(marker.line ?? directory.name),
      session,
      workspace: options.workspace,
      workspaceId: directory.name,
      fork: async (source) => {
        const fork = await this.#fork(source, marker)
        return toRef({ directory: fork.name, isolation })
      },
    })
  }

  #line(scope: string): SnapshotLine {
    const { maxSnapshots = 16, maxBytes = 8 * GIBIBYTE } = this.#options
    return new SnapshotLine(scope, this.#store, { maxSnapshots, maxBytes })
  }

  /**
   * Makes a workspace with the files of a snapshot. While it is filled its owner is this process, so
   * that what a crash leaves is found by the reaper; afterwards it is detached, and of no session
   * until one attaches to it.
   */
  async #fork(source: ForkSource, like: OwnerMarker): Promise<WorkspaceDirectory> {
    const directory = createForkDirectory(this.#tmpdirRoot)
    try {
      const { env, line } = like
      const details = { env, ...(line !== undefined && { line }) }
      const marker = ownMarker({ ...details, sinceMs: this.#clock.now() })
      writeOwner(directory.path, marker)
      restoreDirectory(directory)
      await fillTree(directory.root, { store: this.#store, ...source })
      source.signal?.throwIfAborted()
      writeOwner(directory.path, detachedMarker(marker, this.#clock.now()))
      return directory
    } catch (error) {
      await removeDirectory(directory.path)
      throw error
    }
  }

  /**
   * Frees what a workspace that was closed leaves: the ones that its session left for a restored one,
   * and the snapshots once no workspace of the line is there.
   */
  async release(closed: WorkspaceDirectory, { line, session }: OwnerMarker): Promise<void> {
    if (line === undefined || !(this.#store.holds(line) || closed.isFork)) return
    const others = membersOf(this.#tmpdirRoot, line).filter(
      ({ directory }) => directory.name !== closed.name,
    )
    const left = others.filter(({ marker }) => isLeft(marker, session))
    for (const { directory } of left) {
      await endTree({ marker: `${directory.name}:`, places: [`${directory.scratch}/`] }, 0)
      await removeDirectory(directory.path)
    }
    if (left.length === others.length) await this.#store.deleteScope(line)
  }
}

/** Whether a session has a workspace that no process uses. */
function isLeft(marker: OwnerMarker, session: string | undefined): boolean {
  if (session === undefined || marker.session !== session) return false
  return !isOwnerAlive(marker) && !isOwnerElsewhere(marker)
}
