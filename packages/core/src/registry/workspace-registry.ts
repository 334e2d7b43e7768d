import type { WorkspaceDeclaration } from '../workspace/declaration.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import type { FileVersionsSnapshot } from '../modules/fs/versions/file-versions.ts'
import type { SnapshotRef } from '../modules/snapshot/contract.ts'
import type { PolicyRejection } from '../modules/define-module.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceMetrics } from '../workspace/metrics.ts'
import { parseWorkspaceRef } from '../workspace/parse-ref.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { WorkspaceDescription } from './describe.ts'
import { createContext, type RegistryContext } from './registry-context.ts'
import type { CloseMode, CloseReport, RegistryDeps } from './registry-deps.ts'
import type { OpenWorkspace, UseOptions, WorkspaceAccess } from './workspace-access.ts'
import { WorkspaceEntry } from './entry/workspace-entry.ts'

/**
 * The workspaces of one session: opened when first used, shared by all callers, resolved again
 * when their backend went away, and closed together.
 */
export class WorkspaceRegistry implements WorkspaceAccess {
  readonly clock: Clock
  readonly metrics: WorkspaceMetrics
  readonly #context: RegistryContext
  readonly #entries: ReadonlyMap<string, WorkspaceEntry>
  #closing: Promise<CloseReport> | undefined

  /**
   * Opens nothing. A stored ref that cannot be read makes its workspace `failed`, the others
   * stay usable.
   * @throws {WorkspaceFailedError} `config-invalid` for a bad `maxConcurrentOpens`.
   */
  constructor(declarations: Readonly<Record<string, WorkspaceDeclaration>>, deps: RegistryDeps) {
    const context = createContext(deps)
    this.#context = context
    this.clock = context.clock
    this.metrics = context.metrics
    this.#entries = new Map(
      Object.entries(declarations).map(([name, declaration]) => [
        name,
        new WorkspaceEntry(
          { ...movedDeclaration(declaration, ownValue(deps.refs, name)), name },
          { ref: ownValue(deps.refs, name), ledger: ownValue(deps.ledgers, name) },
          context,
        ),
      ]),
    )
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** @throws {WorkspaceFailedError} `config-invalid` when no workspace has this name. */
  providerId(name: string): string {
    return this.#entry(name).labels.providerId
  }

  use<T>(
    name: string,
    operation: (workspace: OpenWorkspace) => Promise<T>,
    options: UseOptions = {},
  ): Promise<T> {
    // Not async: the hot path of every tool call makes one promise, not two.
    const entry = this.#entries.get(name)
    if (entry === undefined) return Promise.reject(unknownName(name))
    return entry.use(operation, options)
  }

  /**
   * Opens the workspace when needed. `signal` ends the caller's wait, never the shared open.
   * @throws {WorkspaceFailedError} when it cannot be opened.
   */
  async acquire(
    name: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<OpenWorkspace> {
    return this.#entry(name).acquire(options.signal)
  }

  /**
   * Opens every workspace, as many at once as the limit allows.
   * @throws {WorkspaceFailedError} of the first that failed, after all have settled.
   */
  async openAll(signal?: AbortSignal): Promise<void> {
    const opens = [...this.#entries.keys()].map((name) =>
      this.acquire(name, signal === undefined ? {} : { signal }),
    )
    await Promise.allSettled(opens)
    await Promise.all(opens)
  }

  /** @throws {WorkspaceFailedError} what keeps the new one from being used; the old one stays. */
  async switchTo(name: string, ref: WorkspaceRef): Promise<void> {
    await this.#entry(name).switchTo(ref)
  }

  /**
   * For operators, never for a tool: lets a `failed` workspace be opened again at its next use.
   * Does nothing in any other state.
   * @throws {WorkspaceFailedError} `closed`, or `config-invalid` when no workspace has this name.
   */
  reset(name: string): void {
    this.#entry(name).reset()
  }

  /** What can be seen of every workspace now: a frozen copy, made without I/O. */
  describe(): readonly WorkspaceDescription[] {
    return Object.freeze(Array.from(this.#entries.values(), (entry) => entry.describe()))
  }

  takeNotice(name: string): string | undefined {
    return this.#entry(name).takeNotice()
  }

  audit(name: string, rejection: PolicyRejection): void {
    this.#entry(name).audit(rejection)
  }

  /** The ledgers that changed since the last call, to be stored with the session. */
  takeLedgerChanges(): Readonly<Record<string, FileVersionsSnapshot>> | undefined {
    const changed = [...this.#entries.values()].flatMap((entry) => {
      const ledger = entry.takeLedgerChanges()
      return ledger === undefined ? [] : [[entry.name, ledger] as const]
    })
    return changed.length === 0 ? undefined : Object.fromEntries(changed)
  }

  /** Names of the workspaces with a history whose files may have changed; without I/O. */
  snapshotsDue(): readonly string[] {
    const due: string[] = []
    for (const entry of this.#entries.values())
      if (entry.history?.isDue === true) due.push(entry.name)
    return due
  }

  /**
   * Takes the snapshot of a workspace that is due, within `snapshotTimeoutMs`; undefined when its files
   * turn out to be unchanged.
   * @throws {WorkspaceFailedError} `provider-failed` when it takes too long, and as `use`.
   */
  async takeSnapshot(name: string): Promise<SnapshotRef | undefined> {
    return this.#entry(name).history?.take()
  }

  /**
   * Ends the use of all workspaces: `end` runs the end-of-life policy of each and forgets its
   * ref, `detach` keeps what they store. Each has `closeTimeoutMs`; what fails or overruns is
   * logged and reported, never thrown. Only the first call has an effect.
   */
  close(options: { readonly mode: CloseMode }): Promise<CloseReport> {
    this.#closing ??= this.#closeAll(options.mode)
    return this.#closing
  }

  async #closeAll(mode: CloseMode): Promise<CloseReport> {
    const entries = [...this.#entries.values()]
    for (const entry of entries) entry.startClose()
    this.#context.lifetime.abort(
      new WorkspaceFailedError('closed', 'the workspaces of this session are closed'),
    )
    const released = await Promise.all(entries.map((entry) => entry.finishClose(mode)))
    this.#context.auditLogger.flush()
    return { owed: entries.filter((_, index) => !released[index]).map(({ name }) => name) }
  }

  #entry(name: string): WorkspaceEntry {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw unknownName(name)
    return entry
  }
}

/** A ref that was moved names the provider that has it; one that cannot be read is reported later. */
function movedDeclaration(declaration: WorkspaceDeclaration, ref: unknown): WorkspaceDeclaration {
  if (typeof ref !== 'object' || ref === null || !Object.hasOwn(ref, 'moved')) return declaration
  try {
    const { moved } = parseWorkspaceRef(ref)
    if (moved === undefined) return declaration
    return { ...declaration, provider: moved.provider, isMoved: true }
  } catch (error) {
    if (!WorkspaceFailedError.isInstance(error)) throw error
    return declaration
  }
}

function unknownName(name: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `no workspace is named "${name}"`)
}

/** Names come from the agent's author, records from the store: only own keys count. */
function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}
