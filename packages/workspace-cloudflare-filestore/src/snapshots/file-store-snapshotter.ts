import { PolicyError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  SnapshotOptions,
  SnapshotRef,
  Snapshotter,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { deleteNamespace } from '../namespaces/delete-namespace.ts'
import {
  findNamespace,
  isSnapshot,
  type Namespace,
  namespacesOf,
} from '../namespaces/namespaces.ts'
import { createSnapshotRef, readSnapshotRef } from '../ref.ts'
import type { StoreContext } from '../store-context.ts'
import { forkNamespace } from './fork-namespace.ts'

/** What the snapshots of one workspace need. */
export interface FileStoreSnapshotterParts {
  readonly context: StoreContext
  /** Mark of the session that has the workspace open. */
  readonly session: string
  readonly maxSnapshots: number
  /** The context of another namespace of the database. */
  contextOf(namespace: Namespace): StoreContext
  /** The ref of a namespace. */
  toRef(publicId: string): WorkspaceRef
}

/**
 * Snapshots as namespaces of the same database: the rows of the files are copied, their contents are
 * shared.
 */
export class FileStoreSnapshotter implements Snapshotter {
  readonly #parts: FileStoreSnapshotterParts

  constructor(parts: FileStoreSnapshotterParts) {
    this.#parts = parts
  }

  /** @throws {WorkspaceFailedError} `provider-failed` for too many files. */
  async snapshot({ signal, keep = false }: SnapshotOptions = {}): Promise<SnapshotRef> {
    signal?.throwIfAborted()
    const { context, session } = this.#parts
    const { line } = context.namespace
    const taken = forkNamespace(context, { kind: keep ? 'kept' : 'snapshot', line, session })
    if (!keep) await this.#dropOldest(line)
    return createSnapshotRef(taken.publicId)
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is not kept any more.
   * @throws {PolicyError} `cross-session`
   */
  async restore(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    options.signal?.throwIfAborted()
    const { context } = this.#parts
    const snapshot = findSnapshot(ref, { ...this.#parts, ...options })
    const { line } = context.namespace
    const source = this.#parts.contextOf(snapshot)
    const fork = forkNamespace(source, { kind: 'fork', line, session: undefined })
    return this.#parts.toRef(fork.publicId)
  }

  async branch(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.restore(ref, options)
  }

  /** Files count in each snapshot that has them: together no more than a workspace may hold. */
  async #dropOldest(line: string): Promise<void> {
    const { context, maxSnapshots } = this.#parts
    const taken = namespacesOf(context.database, line).filter(({ kind }) => kind === 'snapshot')
    let bytes = taken.reduce((sum, each) => sum + each.bytes, 0)
    for (const [index, oldest] of taken.slice(0, -1).entries()) {
      if (taken.length - index <= maxSnapshots && bytes <= context.limits.maxBytes) return
      await deleteNamespace(this.#parts.contextOf(oldest))
      bytes -= oldest.bytes
    }
  }
}

/**
 * A snapshot that a session may restore.
 * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is not kept any more.
 * @throws {PolicyError} `cross-session`
 */
export function findSnapshot(
  ref: SnapshotRef,
  by: Pick<FileStoreSnapshotterParts, 'session' | 'maxSnapshots'> &
    SnapshotOptions & { readonly context: Pick<StoreContext, 'database'> },
): Namespace {
  const snapshot = findNamespace(by.context.database, readSnapshotRef(ref))
  if (snapshot === undefined || !isSnapshot(snapshot)) {
    throw new WorkspaceFailedError('provider-failed', 'there is no such snapshot', {
      hint: `The last ${by.maxSnapshots} of a workspace are kept, fewer of large files. Take a new one.`,
    })
  }
  if (snapshot.session === by.session || by.allowCrossSession === true) return snapshot
  throw new PolicyError('cross-session', 'the snapshot was taken by another session', {
    hint: 'Restore a snapshot that this session took.',
  })
}

/**
 * Removes what a session leaves behind with a workspace: the ones that it has left for a restored one,
 * and all snapshots once no workspace of the line is left. The workspace itself goes last: a crash
 * before leaves it to the next close.
 */
export async function deleteLine(
  context: StoreContext,
  contextOf: FileStoreSnapshotterParts['contextOf'],
): Promise<void> {
  const { database, namespace } = context
  const others = namespacesOf(database, namespace.line).filter(({ id }) => id !== namespace.id)
  const isLeft = (other: Namespace): boolean =>
    other.kind === 'workspace' && other.session === namespace.session
  const isLast = others.every((other) => isSnapshot(other) || isLeft(other))
  for (const other of others) {
    if (isLeft(other) || (isLast && other.kind === 'snapshot')) {
      await deleteNamespace(contextOf(other))
    }
  }
  await deleteNamespace(context)
}
