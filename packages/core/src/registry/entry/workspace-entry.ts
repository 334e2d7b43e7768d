import type { WorkspaceDeclaration } from '../../workspace/declaration.ts'
import type { HelixError } from '../../errors/helix-error.ts'
import type { WorkspaceEvictedError } from '../../errors/workspace-evicted-error.ts'
import type { FileVersionsSnapshot } from '../../modules/fs/versions/file-versions.ts'
import type { PolicyRejection } from '../../modules/define-module.ts'
import { settled, untilAborted } from '../../time/abort.ts'
import type { WorkspaceLabels } from '../../workspace/metrics.ts'
import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type AdoptedBackend, BackendSource, endWorkspace, isLost } from './backend.ts'
import { Closing } from './closing.ts'
import { describeWorkspace, type LastOpen, type WorkspaceDescription } from '../describe.ts'
import { goneTwice, isOwnEviction, outcomeUnknown, toOpenError } from './entry-errors.ts'
import { type Attempt, EntryHealth } from './entry-health.ts'
import { EntryHistory } from './entry-history.ts'
import { EntryState } from './entry-state.ts'
import { noticeOf } from './notice.ts'
import { WorkspaceObserver } from '../observe.ts'
import type { RegistryContext } from '../registry-context.ts'
import type { CloseMode } from '../registry-deps.ts'
import { mayRepeat } from '../retry-policy.ts'
import { StoredState, type StoredWorkspace } from './stored-state.ts'
import type { OpenWorkspace, UseOptions } from '../workspace-access.ts'

/** One workspace of a session: opens, uses, switches, resets and closes its backend. */
export class WorkspaceEntry {
  readonly name: string
  readonly labels: WorkspaceLabels
  /** Absent: the workspace declares none. */
  readonly history: EntryHistory | undefined
  readonly #declaration: WorkspaceDeclaration
  readonly #context: RegistryContext
  readonly #observer: WorkspaceObserver
  readonly #backends: BackendSource
  readonly #stored: StoredState
  readonly #state: EntryState
  readonly #health = new EntryHealth()
  /** What operations use; set exactly while the state is `open`. Each open makes a new one. */
  #current: OpenWorkspace | undefined
  /** The handle to close or detach at the end; set also while closing. */
  #held: Workspace | undefined
  /** The last open; each makes a new object. */
  #last: LastOpen | undefined
  /** The one open or resolve in flight. */
  #opening: Promise<OpenWorkspace> | undefined
  /** A switch in flight; never rejects. */
  #switching: Promise<void> | undefined
  /** The open whose exhausted retry is logged already; all its callers share one line. */
  #exhaustedAfter: LastOpen | undefined
  #notice: string | undefined

  constructor(
    declaration: WorkspaceDeclaration,
    stored: StoredWorkspace,
    context: RegistryContext,
  ) {
    this.name = declaration.name
    this.labels = { workspace: declaration.name, providerId: declaration.provider.kind }
    this.#declaration = declaration
    this.#context = context
    this.#observer = new WorkspaceObserver(this.labels, context)
    this.#backends = new BackendSource(declaration, context, this.#observer)
    this.#state = new EntryState(this.name, context, this.#observer)
    this.#stored = new StoredState(stored, this.#backends)
    if (declaration.history !== undefined) {
      this.history = new EntryHistory(this, context, this.#stored.ref !== undefined)
    }
    if (this.#stored.refProblem !== undefined) this.#fail(this.#stored.refProblem)
  }

  /**
   * Runs an operation on the open workspace. When the backend turns out to be gone, all callers
   * share one new resolve; the operation runs again when it is safe to run twice.
   */
  async use<T>(
    operation: (workspace: OpenWorkspace) => Promise<T>,
    { idempotent = false, signal }: UseOptions,
  ): Promise<T> {
    signal?.throwIfAborted()
    let opened = this.#current ?? (await this.acquire(signal))
    for (let isRepeated = false; ; isRepeated = true) {
      // The registry may have closed in the turn that this caller waited for.
      this.#state.assertNotClosed()
      const attempt = this.#health.begin(this.#context.clock.now())
      try {
        const result = await operation(opened)
        this.#health.operationSucceeded(this.#context.clock.now())
        this.#observer.operated(opened.live.id, this.#stored.ref, { result })
        if (opened.live.changedRef !== undefined) await this.#storeChangedRef(opened)
        if (isRepeated) this.#observer.evictionRetried()
        return result
      } catch (error) {
        this.#operationFailed(error, attempt, opened)
        if (!isOwnEviction(error)) throw error
        const unrepeated = this.#evict(opened, error, { isRepeated, idempotent })
        if (unrepeated !== undefined) throw unrepeated
      }
      opened = await this.#reopen(signal)
    }
  }

  /**
   * The open workspace; opens it when needed. All callers share one open, which belongs to the
   * registry: an aborted caller only stops waiting.
   */
  async acquire(signal?: AbortSignal): Promise<OpenWorkspace> {
    signal?.throwIfAborted()
    if (this.#current !== undefined) return this.#current
    if (this.#switching !== undefined) {
      await untilAborted(this.#switching, signal)
      return this.acquire(signal)
    }
    this.#state.assertMayOpen()
    const opened = await untilAborted(this.#opening ?? this.#startOpen(), signal)
    // Between the open and this turn the registry may have closed, or a newer open come.
    this.#state.assertNotClosed()
    return this.#current ?? opened
  }

  /**
   * Makes the entry use another workspace. The new one is resolved, checked and persisted first:
   * whatever fails before leaves the old one in place.
   */
  async switchTo(value: WorkspaceRef): Promise<void> {
    const ref = this.#backends.parseOwnRef(value)
    while (this.#opening !== undefined || this.#switching !== undefined) {
      await settled(this.#switching ?? this.#opening)
    }
    this.#state.assertNotClosed()
    const work = this.#observer.traceOpen('resolve', () => this.#runSwitch(ref))
    this.#switching = settled(work)
    await work
  }

  /** The operator's way out of `failed`; in every other state there is nothing to reset. */
  reset(): void {
    this.#state.assertNotClosed()
    if (this.#state.value !== 'failed') return
    this.#state.forgetFailure()
    this.#state.move('reset')
  }

  /** A frozen copy of what operators see, without I/O. */
  describe(): WorkspaceDescription {
    return describeWorkspace({
      labels: this.labels,
      declared: this.#declaration.capabilities,
      state: this.#state.value,
      stateSince: this.#state.since,
      health: this.#health,
      ref: this.#stored.ref,
      last: this.#last,
      snapshots: this.history?.health,
    })
  }

  /** What the model must read once about the last open. */
  takeNotice(): string | undefined {
    const notice = this.#notice
    this.#notice = undefined
    return notice
  }

  /** The file ledger, when it changed or was begun anew since the last call. */
  takeLedgerChanges(): FileVersionsSnapshot | undefined {
    return this.#stored.takeLedgerChanges()
  }

  audit(rejection: PolicyRejection): void {
    this.#observer.rejected(rejection)
  }

  /** From now on nothing is opened or used. */
  startClose(): void {
    this.#state.move('close')
    this.#current = undefined
  }

  /**
   * Closes or detaches the backend within `closeTimeoutMs`. Never rejects.
   * @returns false when the backend may still be there and should not.
   */
  finishClose(mode: CloseMode): Promise<boolean> {
    const inUse = [this.#held, this.#opening, this.#switching].some((part) => part !== undefined)
    // What an earlier run left is closed too, but not detached.
    const isTraced = inUse || (this.#stored.ref !== undefined && mode === 'end')
    const closing = new Closing(mode, {
      name: this.name,
      context: this.#context,
      observer: this.#observer,
      backends: this.#backends,
      owed: () => ({ ...(this.#held && { workspaceId: this.#held.id }), ref: this.#stored.ref }),
    })
    return this.#observer.traceClose(mode, isTraced, async (fail) => {
      const isReleased = await closing.run(this.#close(closing), fail)
      this.#state.move('closed')
      return isReleased
    })
  }

  /** After an eviction. */
  async #reopen(signal?: AbortSignal): Promise<OpenWorkspace> {
    try {
      return await this.acquire(signal)
    } catch (error) {
      if (signal?.aborted !== true) this.#logExhausted(error)
      throw error
    }
  }

  #startOpen(): Promise<OpenWorkspace> {
    this.#state.move('open')
    const { startedAt } = this.#health.begin(this.#context.clock.now())
    const action = this.#stored.ref === undefined ? 'open' : 'resolve'
    const opening = this.#observer.traceOpen(action, () => this.#runOpen(startedAt))
    this.#opening = opening
    // Every caller may have left; the entry keeps the error.
    void settled(opening)
    return opening
  }

  async #runOpen(startedAt: number): Promise<OpenWorkspace> {
    try {
      const ref = this.#stored.readRef()
      const onRetry = (error: HelixError): void => this.#health.openRetried(error)
      const backend = await this.#backends.open({ ref, onRetry })
      const adopted = await this.#backends.adopt(backend, this.#stored.ref)
      const opened = this.#install(adopted)
      const now = this.#context.clock.now()
      this.#health.opened(now)
      this.#observer.opened(adopted, now - startedAt)
      // Close takes over what is held.
      this.#state.assertNotClosed()
      this.#state.move('opened')
      this.#current = opened
      return opened
    } catch (cause) {
      const error = toOpenError(cause, this.name, this.#context.lifetime.signal)
      if (!this.#state.isClosed) {
        this.#observer.openFailed(error)
        this.#fail(error)
      }
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  async #runSwitch(value: WorkspaceRef): Promise<void> {
    try {
      this.#stored.readRef()
      const backend = await this.#backends.resolve(value, this.#context.lifetime.signal)
      await this.#swap(await this.#backends.adopt(backend, this.#stored.ref, true))
    } catch (error) {
      throw toOpenError(error, this.name, this.#context.lifetime.signal)
    } finally {
      this.#switching = undefined
    }
  }

  async #swap(backend: AdoptedBackend): Promise<void> {
    const old = this.#held
    const opened = this.#install(backend)
    this.#observer.switched(backend)
    if (!this.#state.isClosed) {
      if (this.#state.value !== 'open') {
        this.#state.move('open')
        this.#state.move('opened')
      }
      this.#current = opened
      this.#health.openedAt = this.#context.clock.now()
    }
    // The switch has happened; a handle that does not let go must not undo it.
    if (old !== undefined && old !== backend.ws && (await this.#backends.end(old, 'detach'))) {
      this.#observer.detached(old.id, backend.ref)
    }
    // Its ref is persisted, and close takes over what is held.
    this.#state.assertNotClosed()
  }

  /** Makes an adopted backend the one that operations use, and keeps what the model must know. */
  #install(backend: AdoptedBackend): OpenWorkspace {
    const { ws, ref, receipt, isOfBranch } = backend
    const moved = this.#stored.ref?.moved?.notice
    this.#stored.adopted(ref, receipt.outcome === 'cold')
    this.#held = ws
    const { isolation, containment, maxProcesses } = ws
    this.#last = { receipt, isolation, containment, maxProcesses }
    this.#state.forgetFailure()
    this.#notice = noticeOf(this.name, receipt, isOfBranch) ?? moved ?? this.#notice
    return { live: this.history?.opened(ws, receipt) ?? ws, ledger: this.#stored.ledger }
  }

  #operationFailed(error: unknown, attempt: Attempt, { live }: OpenWorkspace): void {
    this.#health.operationFailed(error, attempt, this.#context.clock.now())
    this.#observer.operated(live.id, this.#stored.ref, {})
  }

  /** @returns what the caller gets, when the operation is not to be repeated. */
  #evict(
    opened: OpenWorkspace,
    error: WorkspaceEvictedError,
    { isRepeated, idempotent }: { readonly isRepeated: boolean; readonly idempotent: boolean },
  ): WorkspaceEvictedError | undefined {
    if (isRepeated) this.#logExhausted(error)
    // A late error of an earlier open says nothing about the present one.
    if (this.#current === opened) {
      this.#current = undefined
      this.#held = undefined
      this.#health.evicted(error)
      this.#observer.evicted()
      this.#state.move('evict')
    }
    if (!mayRepeat(error, idempotent)) return outcomeUnknown(this.name, error)
    return isRepeated ? goneTwice(this.name, error) : undefined
  }

  /** The ref of an evicted or replaced workspace is not that of the present one. */
  async #storeChangedRef(opened: OpenWorkspace): Promise<void> {
    const { changedRef } = opened.live
    if (changedRef !== undefined && this.#current === opened) {
      await this.#stored.storeChanged(changedRef)
    }
  }

  #logExhausted(error: unknown): void {
    if (this.#state.isClosed || this.#exhaustedAfter === this.#last) return
    this.#exhaustedAfter = this.#last
    this.#observer.evictionRetryExhausted(error)
  }

  async #close(closing: Closing): Promise<void> {
    await settled(this.#opening)
    await settled(this.#switching)
    const { mode } = closing
    const { signal } = closing
    const workspace = this.#held ?? (mode === 'end' ? await this.#resolveStored(signal) : undefined)
    if (workspace !== undefined) {
      await endWorkspace(workspace, mode)
      this.#held = undefined
      this.#observer.closed(workspace.id, this.#stored.ref, mode)
    }
    closing.released()
    // An overdue ref stays, and resolves as lost: the session may belong to another process.
    if (mode === 'end' && !closing.isOverdue) await this.#stored.forget()
  }

  /** A workspace that this run never used may hold storage from an earlier one. */
  async #resolveStored(signal: AbortSignal): Promise<Workspace | undefined> {
    const ref = this.#stored.readRef()
    if (ref === undefined) return undefined
    try {
      return (await this.#backends.resolve(ref, signal)).ws
    } catch (error) {
      if (isLost(error)) return undefined
      throw error
    }
  }

  #fail(error: HelixError): void {
    this.#health.lastError = error
    this.#state.fail(error)
  }
}
