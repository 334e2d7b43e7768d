import {
  FileSystemError,
  HelixError,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import type { FileStoreStorage, SqlBinding, SqlRow } from './ports.ts'

/** Statements on the database of the object; every failure becomes an error of the library. */
export class Database {
  readonly #storage: FileStoreStorage

  constructor(storage: FileStoreStorage) {
    this.#storage = storage
  }

  all(statement: string, ...bindings: SqlBinding[]): SqlRow[] {
    try {
      return this.#storage.sql.exec(statement, ...bindings).toArray()
    } catch (cause) {
      throw storageFailed(cause)
    }
  }

  /** The first row, or undefined. */
  get(statement: string, ...bindings: SqlBinding[]): SqlRow | undefined {
    return this.all(statement, ...bindings)[0]
  }

  run(statement: string, ...bindings: SqlBinding[]): void {
    this.all(statement, ...bindings)
  }

  /** All of it is stored, or, when it throws, nothing. */
  transaction<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work)
    } catch (cause) {
      throw HelixError.isInstance(cause) ? cause : storageFailed(cause)
    }
  }
}

/** The workspace is gone for good. */
export function lost(cause?: unknown): WorkspaceEvictedError {
  return new WorkspaceEvictedError('the files of this workspace were removed', {
    code: 'lost',
    admitted: 'no',
    ...(cause !== undefined && { cause }),
  })
}

/** A full database is the caller's to solve; anything else may pass. */
function storageFailed(cause: unknown): HelixError {
  const reason = String(cause)
  if (/no such table: helix_fs_/.test(reason)) return lost(cause)
  if (/SQLITE_FULL|disk is full/i.test(reason)) {
    return new FileSystemError('storage-full', '/', {
      detail: 'the database of the object is full',
      cause,
    })
  }
  return new WorkspaceFailedError('provider-failed', 'the database of the file store failed', {
    transient: true,
    cause,
  })
}
