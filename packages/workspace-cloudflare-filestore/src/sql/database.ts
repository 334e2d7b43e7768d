import {
  FileSystemError,
  HelixError,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { OUTDATED } from './tables.ts'
import type { FileStoreStorage, FileStoreSqlBinding, FileStoreSqlRow } from '../ports.ts'
import { sharedStateOf } from '../shared-state.ts'
import type { KnownNodes } from '../known/known-nodes.ts'

/**
 * What became of a write to a view: `outdated` when the tables are not as it expects, `taken` when
 * something is already at the path of an addition.
 */
export type ViewAnswer = 'done' | 'outdated' | 'taken'

/** What SQLite says of a second row with the key of a node. */
const TAKEN = 'UNIQUE constraint failed: helix_fs_nodes.'

/** Statements on the database of the object; every failure becomes an error of the library. */
export class Database {
  readonly #storage: FileStoreStorage
  readonly #known: KnownNodes
  #isInTransaction = false

  constructor(storage: FileStoreStorage) {
    this.#storage = storage
    this.#known = sharedStateOf(storage).known
  }

  all(statement: string, ...bindings: FileStoreSqlBinding[]): FileStoreSqlRow[] {
    try {
      return this.#storage.sql.exec(statement, ...bindings).toArray()
    } catch (cause) {
      throw storageFailed(cause)
    }
  }

  /** The first row, or undefined. */
  get(statement: string, ...bindings: FileStoreSqlBinding[]): FileStoreSqlRow | undefined {
    return this.all(statement, ...bindings)[0]
  }

  /** A statement without a result. */
  run(statement: string, ...bindings: FileStoreSqlBinding[]): void {
    try {
      this.#storage.sql.exec(statement, ...bindings)
    } catch (cause) {
      throw storageFailed(cause)
    }
  }

  /** A write to a view. Whatever it answers but `done`, nothing was changed. */
  runOnView(statement: string, ...bindings: FileStoreSqlBinding[]): ViewAnswer {
    try {
      this.#storage.sql.exec(statement, ...bindings)
      return 'done'
    } catch (cause) {
      const reason = String(cause)
      if (reason.includes(OUTDATED)) return 'outdated'
      if (reason.includes(TAKEN)) return 'taken'
      throw storageFailed(cause)
    }
  }

  /**
   * All of it is stored, or, when it throws, nothing. What was known before is forgotten. Within
   * another transaction it is a part of that.
   */
  transaction<T>(work: () => T): T {
    try {
      return this.#transact(work)
    } catch (cause) {
      throw HelixError.isInstance(cause) ? cause : storageFailed(cause)
    } finally {
      this.#known.forget()
    }
  }

  /**
   * A transaction that changes what stands at one path alone; the rest stays known.
   * @param learn takes the result in, once it is stored.
   */
  transactionAt<T>(work: () => T, learn: (result: T) => void): T {
    try {
      const result = this.#transact(work)
      learn(result)
      return result
    } catch (cause) {
      this.#known.forget()
      throw HelixError.isInstance(cause) ? cause : storageFailed(cause)
    }
  }

  #transact<T>(work: () => T): T {
    if (this.#isInTransaction) return work()
    return this.#storage.transactionSync(() => {
      this.#isInTransaction = true
      try {
        return work()
      } finally {
        this.#isInTransaction = false
      }
    })
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

/** A full database is the caller's to solve, a wrong class the operator's; anything else may pass. */
function storageFailed(cause: unknown): HelixError {
  const reason = String(cause)
  if (/no such table: helix_fs_/.test(reason)) return lost(cause)
  if (/SQL is not enabled/.test(reason)) {
    const detail = 'the class of the object has no SQLite storage: list it in `new_sqlite_classes`'
    return new WorkspaceFailedError('config-invalid', detail, { cause })
  }
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
