import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'
import { FileVersions, type FileVersionsSnapshot } from '../../modules/fs/versions/file-versions.ts'
import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { BackendSource } from './backend.ts'

/** What an earlier process stored of a workspace. */
export interface StoredWorkspace {
  /** Not parsed. */
  readonly ref: unknown
  readonly ledger: FileVersionsSnapshot | undefined
}

/** What the session store keeps of one workspace: its ref, and the versions that agents have seen. */
export class StoredState {
  readonly #backends: BackendSource
  #ref: WorkspaceRef | undefined
  /** The stored ref cannot be read; nothing may overwrite it. */
  readonly refProblem: WorkspaceFailedError | undefined
  /** The last `changedRef` that is persisted, the very object. */
  #changedRef: WorkspaceRef | undefined
  #ledger: FileVersions
  /** The ledger replaces a stored one, so it must be stored even while it is empty. */
  #isLedgerNew = false

  constructor({ ref, ledger }: StoredWorkspace, backends: BackendSource) {
    this.#backends = backends
    this.#ledger = new FileVersions(ledger)
    if (ref === undefined || ref === null) return
    try {
      this.#ref = backends.parseOwnRef(ref)
    } catch (error) {
      if (!WorkspaceFailedError.isInstance(error)) throw error
      this.refProblem = error
    }
  }

  /** The ref that is persisted. */
  get ref(): WorkspaceRef | undefined {
    return this.#ref
  }

  get ledger(): FileVersions {
    return this.#ledger
  }

  /** @throws {WorkspaceFailedError} when the stored ref cannot be read. */
  readRef(): WorkspaceRef | undefined {
    if (this.refProblem !== undefined) throw this.refProblem
    return this.#ref
  }

  /** The ref of an adopted backend, which is persisted already. */
  adopted(ref: WorkspaceRef, isCold: boolean): void {
    this.#ref = ref
    if (!isCold) return
    // What was known of the earlier files says nothing about these.
    this.#ledger = new FileVersions()
    this.#isLedgerNew = true
  }

  /** Persists the ref that a live workspace replaces its stored one with; once. */
  async storeChanged(changedRef: WorkspaceRef): Promise<void> {
    if (changedRef === this.#changedRef) return
    const ref = this.#backends.parseOwnRef(changedRef)
    await this.#backends.store(ref, this.#ref)
    this.#changedRef = changedRef
    this.#ref = ref
  }

  /** Removes the persisted ref. */
  async forget(): Promise<void> {
    if (this.#ref === undefined) return
    await this.#backends.store(null, this.#ref)
    this.#ref = undefined
  }

  /** The ledger, when it changed or was begun anew since the last call. */
  takeLedgerChanges(): FileVersionsSnapshot | undefined {
    const begun = this.#isLedgerNew ? this.#ledger.snapshot() : undefined
    this.#isLedgerNew = false
    return this.#ledger.takeChanges() ?? begun
  }
}
