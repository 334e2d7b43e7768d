import type { WorkspaceDeclaration } from '../agent/agent-definition.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import type { FileLedgerSnapshot } from '../modules/fs/ledger/file-ledger.ts'
import type { PolicyRejection } from '../modules/define-module.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceMetrics } from '../workspace/metrics.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import { closeAll } from './close-all.ts'
import { resetEntry } from './cooldown-reset.ts'
import { describeEntry, type WorkspaceDescription } from './describe.ts'
import { useEntry } from './eviction-retry.ts'
import { takeChangedLedgers } from './ledger-changes.ts'
import { acquireEntry } from './open-entry.ts'
import { createContext, type RegistryContext } from './registry-context.ts'
import type { CloseMode, CloseReport, RegistryDeps } from './registry-deps.ts'
import { closedError, createEntry, isClosed, type RegistryEntry } from './registry-entry.ts'
import { switchEntry } from './switch-entry.ts'
import type { OpenWorkspace, UseOptions, WorkspaceAccess } from './workspace-access.ts'

/**
 * The workspaces of one session: opened when first used, shared by all callers, resolved again
 * when their backend went away, and closed together.
 */
export class WorkspaceRegistry implements WorkspaceAccess {
  readonly clock: Clock
  readonly metrics: WorkspaceMetrics
  readonly #context: RegistryContext
  readonly #entries: ReadonlyMap<string, RegistryEntry>
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
        createEntry({ ...declaration, name }, deps, context),
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
    options: UseOptions,
  ): Promise<T> {
    // Not async: the hot path of every tool call makes one promise, not two.
    const entry = this.#entries.get(name)
    if (entry === undefined) return Promise.reject(unknownName(name))
    return useEntry(entry, operation, options, this.#context)
  }

  /**
   * Opens the workspace when needed. `signal` ends the caller's wait, never the shared open.
   * @throws {WorkspaceFailedError} when it cannot be opened.
   */
  async acquire(
    name: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<OpenWorkspace> {
    return acquireEntry(this.#entry(name), this.#context, options.signal)
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
    await switchEntry(this.#entry(name), ref, this.#context)
  }

  /**
   * For operators, never for a tool: lets a `failed` workspace be opened again at its next use.
   * Does nothing in any other state.
   * @throws {WorkspaceFailedError} `closed`, or `config-invalid` when no workspace has this name.
   */
  reset(name: string): void {
    const entry = this.#entry(name)
    if (isClosed(entry)) throw closedError(name)
    resetEntry(entry, this.#context)
  }

  /** What can be seen of every workspace now: a frozen copy, made without I/O. */
  describe(): readonly WorkspaceDescription[] {
    return Object.freeze(Array.from(this.#entries.values(), describeEntry))
  }

  takeNotice(name: string): string | undefined {
    const entry = this.#entry(name)
    const { notice } = entry
    delete entry.notice
    return notice
  }

  audit(name: string, rejection: PolicyRejection): void {
    const { labels } = this.#entry(name)
    this.metrics.incPolicyRejection(labels, rejection.code)
    this.#context.auditLogger.warnRateLimited(`${name} ${rejection.key}`, rejection.message, {
      ...rejection.fields,
      ...labels,
      sessionId: this.#context.session.sessionId,
    })
  }

  /** The ledgers that changed since the last call, to be stored with the session. */
  takeLedgerChanges(): Readonly<Record<string, FileLedgerSnapshot>> | undefined {
    return takeChangedLedgers(this.#entries.values())
  }

  /**
   * Ends the use of all workspaces: `end` runs the end-of-life policy of each and forgets its
   * ref, `detach` keeps what they store. Each has `closeTimeoutMs`; what fails or overruns is
   * logged and reported, never thrown. Only the first call has an effect.
   */
  close(options: { readonly mode: CloseMode }): Promise<CloseReport> {
    this.#closing ??= closeAll([...this.#entries.values()], options.mode, this.#context)
    return this.#closing
  }

  #entry(name: string): RegistryEntry {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw unknownName(name)
    return entry
  }
}

function unknownName(name: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `no workspace is named "${name}"`)
}
