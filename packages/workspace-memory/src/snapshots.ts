import { PolicyError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  SnapshotOptions,
  SnapshotRef,
  Snapshotter,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { IN_MEMORY_KIND } from './config.ts'
import type { FilesImage, InMemoryFileSystem } from './in-memory-file-system.ts'

/** Snapshots that are kept of a workspace and of those that were restored from it. */
const MAX_SNAPSHOTS = 16

const payloadSchema = z.strictObject({
  schemaVersion: z.literal(1),
  id: z.string().min(1).max(128),
})

/** The files of a workspace at one moment. */
export interface Snapshot {
  readonly id: string
  /** The session that took it. */
  readonly sessionId: string
  readonly image: FilesImage
  /** What was stored since the snapshot before: bounds what that one alone keeps in memory. */
  readonly storedBytes: number
  /** It stays until it is removed. */
  readonly isKept: boolean
}

/** The snapshots of a workspace that was opened and of those that were restored from it. */
export class SnapshotLine {
  readonly #maxStoredBytes: number
  readonly #marks = new WeakMap<InMemoryFileSystem, number>()
  readonly #snapshots: Snapshot[] = []

  /** @param maxStoredBytes between the oldest snapshot and the newest one; the oldest ones go first. */
  constructor(maxStoredBytes: number) {
    this.#maxStoredBytes = maxStoredBytes
  }

  get all(): readonly Snapshot[] {
    return this.#snapshots
  }

  /** Takes a snapshot. @returns it, and the ones that were dropped for it */
  take(
    fs: InMemoryFileSystem,
    owner: Pick<Snapshot, 'id' | 'sessionId' | 'isKept'>,
  ): { readonly taken: Snapshot; readonly dropped: readonly Snapshot[] } {
    const storedBytes = fs.storedBytes - (this.#marks.get(fs) ?? 0)
    const taken = { ...owner, image: fs.image(), storedBytes }
    if (taken.isKept) return { taken, dropped: [] }
    this.#marks.set(fs, fs.storedBytes)
    this.#snapshots.push(taken)
    return { taken, dropped: this.#dropOldest() }
  }

  #dropOldest(): readonly Snapshot[] {
    const [, ...later] = this.#snapshots
    let stored = later.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
    let count = 0
    while (this.#snapshots.length - count > MAX_SNAPSHOTS || stored > this.#maxStoredBytes) {
      stored -= later[count]?.storedBytes ?? 0
      count += 1
    }
    return this.#snapshots.splice(0, count)
  }
}

/** What the snapshots of one workspace need of its provider. */
export interface SnapshotterParts {
  readonly sessionId: string
  take(isKept: boolean): Snapshot
  find(id: string): Snapshot | undefined
  /** Makes a workspace that starts with the files of a snapshot. */
  fork(snapshot: Snapshot): WorkspaceRef
}

/** Snapshots in constant time: they share contents and directories with the files of today. */
export class InMemorySnapshotter implements Snapshotter {
  readonly #parts: SnapshotterParts

  constructor(parts: SnapshotterParts) {
    this.#parts = parts
  }

  async snapshot({ signal, keep = false }: SnapshotOptions = {}): Promise<SnapshotRef> {
    signal?.throwIfAborted()
    return toSnapshotRef(this.#parts.take(keep).id)
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is not kept any more.
   * @throws {PolicyError} `cross-session`
   */
  async restore(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    options.signal?.throwIfAborted()
    const snapshot = usable(this.#parts.find(parseSnapshotId(ref)), this.#parts.sessionId, options)
    return this.#parts.fork(snapshot)
  }

  async branch(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.restore(ref, options)
  }
}

/**
 * A snapshot that a session may restore.
 * @throws {WorkspaceFailedError} `provider-failed` for one that is not kept any more.
 * @throws {PolicyError} `cross-session`
 */
export function usable<T extends Pick<Snapshot, 'sessionId'>>(
  snapshot: T | undefined,
  sessionId: string,
  { allowCrossSession }: SnapshotOptions,
): T {
  if (snapshot === undefined) {
    throw new WorkspaceFailedError('provider-failed', 'there is no such snapshot', {
      hint: `The last ${MAX_SNAPSHOTS} of a workspace are kept in memory, fewer of large files. Take a new one.`,
    })
  }
  if (snapshot.sessionId !== sessionId && allowCrossSession !== true) {
    throw new PolicyError('cross-session', 'the snapshot was taken by another session', {
      hint: 'Restore a snapshot that this session took.',
    })
  }
  return snapshot
}

export function toSnapshotRef(id: string): SnapshotRef {
  return { providerId: IN_MEMORY_KIND, ref: { schemaVersion: 1, id } }
}

/** @throws {WorkspaceFailedError} `ref-invalid` */
export function parseSnapshotId({ providerId, ref }: SnapshotRef): string {
  const parsed = payloadSchema.safeParse(ref)
  if (providerId === IN_MEMORY_KIND && parsed.success) return parsed.data.id
  throw new WorkspaceFailedError(
    'ref-invalid',
    'that is not a snapshot of this kind of workspace',
    {
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      cause: parsed.error,
    },
  )
}
