import type {
  HeldBySession,
  ProviderHistory,
  ResolveOptions,
  SnapshotOptions,
  SnapshotRef,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { deleteNamespace } from '../namespaces/delete-namespace.ts'
import {
  findNamespace,
  type Namespace,
  namespacesOfSession,
  sessionMark,
} from '../namespaces/namespaces.ts'
import { createSnapshotRef, readSnapshotRef } from '../ref.ts'
import type { Database } from '../sql/database.ts'
import { migrate } from '../sql/migrate.ts'
import type { StoreContext } from '../store-context.ts'
import { findSnapshot } from './file-store-snapshotter.ts'
import { forkNamespace } from './fork-namespace.ts'

/** What the history needs of its provider. */
export interface FileStoreHistoryParts {
  readonly database: Database
  readonly maxSnapshots: number
  readonly contextOf: (namespace: Namespace) => StoreContext
  readonly toRef: (publicId: string) => WorkspaceRef
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The kept snapshots of all sessions of one database. */
export class FileStoreHistory implements ProviderHistory {
  readonly #parts: FileStoreHistoryParts

  constructor(parts: FileStoreHistoryParts) {
    this.#parts = parts
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is gone.
   * @throws {PolicyError} `cross-session`
   */
  async restore(
    ref: SnapshotRef,
    { session, signal, allowCrossSession = false }: ResolveOptions & SnapshotOptions,
  ): Promise<WorkspaceRef> {
    signal.throwIfAborted()
    const { database, maxSnapshots, contextOf, toRef } = this.#open()
    const mark = sessionMark(session.sessionId)
    const by = { context: { database }, session: mark, maxSnapshots, allowCrossSession }
    const snapshot = findSnapshot(ref, by)
    const { line } = snapshot
    const made = { kind: 'workspace', line, session: mark } as const
    return toRef(forkNamespace(contextOf(snapshot), made).publicId)
  }

  async remove(ref: SnapshotRef): Promise<void> {
    const { database, contextOf } = this.#open()
    const found = findNamespace(database, readSnapshotRef(ref))
    if (found?.kind === 'kept') await deleteNamespace(contextOf(found))
  }

  async list(sessionId: string): Promise<HeldBySession> {
    const { database, toRef } = this.#open()
    const held = namespacesOfSession(database, sessionId)
    return {
      snapshots: held
        .filter(({ kind }) => kind === 'kept')
        .map(({ publicId }) => createSnapshotRef(publicId)),
      workspaces: held
        .filter(({ kind }) => kind === 'workspace')
        .map(({ publicId }) => toRef(publicId)),
    }
  }

  #open(): FileStoreHistoryParts {
    migrate(this.#parts.database, this.#parts.now())
    return this.#parts
  }
}
