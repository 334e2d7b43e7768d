import type { WorkspaceDeclaration } from '../../workspace/declaration.ts'
import type { HelixError } from '../../errors/helix-error.ts'
import { WorkspaceEvictedError } from '../../errors/workspace-evicted-error.ts'
import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'
import { withDeadline } from '../../time/deadline.ts'
import { parseProviderConfig, unknownKind } from '../../workspace/assert-providers-support.ts'
import { assertCapabilities } from '../../workspace/capability-invariant.ts'
import { parseWorkspaceRef } from '../../workspace/parse-ref.ts'
import type { OpenedWorkspace, WorkspaceProvider } from '../../workspace/provider.ts'
import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { WorkspaceObserver } from '../observe.ts'
import type { RegistryContext } from '../registry-context.ts'
import type { CloseMode } from '../registry-deps.ts'
import { isRetryable, retryDelayMs } from '../retry-policy.ts'

/** A backend that a provider opened or resolved, not yet checked. */
export interface OpenedBackend extends OpenedWorkspace {
  /** It was made just now and nothing else knows of it: it must be closed when it is not used. */
  readonly isFresh: boolean
  /** Earlier messages describe the files of the session that this one is a branch of. */
  readonly isOfBranch?: boolean
}

/** A backend that was checked, and whose ref is persisted. */
export interface AdoptedBackend extends OpenedBackend {
  /** Parsed. */
  readonly ref: WorkspaceRef
}

/** What an open needs to know of its workspace. */
export interface OpenRequest {
  /** The stored ref; undefined: a backend is made. */
  readonly ref: WorkspaceRef | undefined
  readonly onRetry: (error: HelixError) => void
}

/** The provider of one workspace: opens, resolves, checks and ends its backends. */
export class BackendSource {
  readonly #declaration: WorkspaceDeclaration
  readonly #provider: WorkspaceProvider | undefined
  readonly #context: RegistryContext
  readonly #observer: WorkspaceObserver

  constructor(
    declaration: WorkspaceDeclaration,
    context: RegistryContext,
    observer: WorkspaceObserver,
  ) {
    this.#declaration = declaration
    this.#provider = context.providers.get(declaration.provider.kind)
    this.#context = context
    this.#observer = observer
  }

  /** Kind of the provider. */
  get providerId(): string {
    return this.#declaration.provider.kind
  }

  /** Resolves the stored ref, or opens a new backend; retries what is transient. */
  async open({ ref, onRetry }: OpenRequest): Promise<OpenedBackend> {
    const { openLimit, lifetime, usedBefore } = this.#context
    const { signal } = lifetime
    const earlierUse = ref === undefined && usedBefore(this.#declaration.name)
    let lost: unknown
    const attempt = async (): Promise<OpenedBackend> => {
      if (ref === undefined) return this.#openFresh()
      // A retry of what takes its place does not resolve again.
      if (lost !== undefined) return this.#openAfter(lost)
      try {
        return await this.#resolve(ref, signal)
      } catch (error) {
        if (!isLost(error)) throw error
        lost = error
        return this.#openAfter(lost)
      }
    }
    const backend = await this.#retry(() => openLimit(attempt, signal), onRetry)
    if (lost !== undefined || earlierUse === true) return asCold(backend)
    return earlierUse === 'in-source' ? { ...asCold(backend), isOfBranch: true } : backend
  }

  /** Resolves a ref once, without retry, when its turn among the opens comes. */
  resolve(ref: WorkspaceRef, signal: AbortSignal): Promise<OpenedBackend> {
    return this.#context.openLimit(() => this.#resolve(ref, signal), signal)
  }

  /**
   * Checks a backend and stores its ref, so that no operation runs on one that a crash would
   * leak. A backend that fails either is released before the error surfaces.
   */
  async adopt(
    backend: OpenedBackend,
    storedRef?: WorkspaceRef,
    releasesOld = false,
  ): Promise<AdoptedBackend> {
    try {
      const ref = this.parseOwnRef(backend.ref)
      assertCapabilities({
        workspace: this.#declaration.name,
        providerId: this.#declaration.provider.kind,
        declared: this.#declaration.capabilities,
        offered: ref.capabilities,
        live: backend.ws,
      })
      await this.store(ref, storedRef, releasesOld)
      return { ...backend, ref, receipt: Object.freeze({ ...backend.receipt }) }
    } catch (error) {
      await this.#release(backend)
      throw error
    }
  }

  /** Persists a ref unless it is the stored one; null removes it. */
  async store(
    ref: WorkspaceRef | null,
    storedRef: WorkspaceRef | undefined,
    releasesOld = false,
  ): Promise<void> {
    if (storedRef !== undefined && JSON.stringify(ref) === JSON.stringify(storedRef)) return
    await this.#context.persistRef(this.#declaration.name, ref, releasesOld)
  }

  /** @throws {WorkspaceFailedError} `ref-invalid`, also when another provider wrote the ref. */
  parseOwnRef(value: unknown): WorkspaceRef {
    const ref = parseWorkspaceRef(value)
    const { name, provider, isMoved = false } = this.#declaration
    if (ref.providerId === provider.kind) {
      return isMoved && ref.moved === undefined ? { ...ref, moved: { provider } } : ref
    }
    throw new WorkspaceFailedError(
      'ref-invalid',
      `the ref of workspace "${name}" is of provider ${ref.providerId}, ` +
        `but ${provider.kind} is declared`,
    )
  }

  /** Ends or detaches a handle within `closeTimeoutMs`. @returns false when that failed; it is logged. */
  async end(workspace: Workspace, mode: CloseMode): Promise<boolean> {
    try {
      await this.bounded(endWorkspace(workspace, mode))
      return true
    } catch (err) {
      this.#observer.closeFailed(mode, err)
      return false
    }
  }

  /** Rejects when the work of a close takes longer than `closeTimeoutMs`. */
  bounded(work: Promise<void>, onTimeout?: (error: Error) => void): Promise<void> {
    const { clock, closeTimeoutMs: timeoutMs } = this.#context
    return withDeadline(work, {
      clock,
      timeoutMs,
      onTimeout: () => {
        const error = new WorkspaceFailedError(
          'provider-failed',
          `workspace "${this.#declaration.name}" did not close within ${timeoutMs} ms`,
        )
        onTimeout?.(error)
        return error
      },
    })
  }

  /** Repeats an open while its error is retryable. */
  async #retry<T>(run: () => Promise<T>, onRetry: OpenRequest['onRetry']): Promise<T> {
    const { clock, random, lifetime, transientRetryAttempts } = this.#context
    for (let retries = 0; ; retries++) {
      try {
        return await run()
      } catch (error) {
        const isLast = retries >= transientRetryAttempts || lifetime.signal.aborted
        if (isLast || !isRetryable(error)) throw error
        const delayMs = retryDelayMs(error, retries, random)
        onRetry(error)
        this.#observer.openRetried()
        await clock.sleep(delayMs, lifetime.signal)
      }
    }
  }

  /** In the place of a backend that is gone: one with the files of its history, else a fresh one. */
  async #openAfter(lost: unknown): Promise<OpenedBackend> {
    const restored = await this.#openRestored()
    if (restored === undefined && this.#declaration.onLost === 'fail') throw lost
    this.#observer.lost(lost)
    return restored ?? this.#openFresh()
  }

  async #openRestored(): Promise<OpenedBackend | undefined> {
    if (this.#declaration.history === undefined) return undefined
    const { lifetime, restoreLost } = this.#context
    return this.#attempt(lifetime.signal, async (signal) => {
      const restored = await restoreLost(this.#declaration.name, signal)
      if (restored === undefined) return undefined
      const { ref, detail } = restored
      const backend = await this.#resolve(ref, signal)
      return { ...backend, isFresh: true, receipt: { outcome: 'restored', detail } }
    })
  }

  #openFresh(): Promise<OpenedBackend> {
    const provider = this.#requireProvider()
    const config = parseProviderConfig(this.#declaration, provider)
    const { session, lifetime } = this.#context
    return this.#attempt(lifetime.signal, async (signal) => {
      const opened = await provider.open(config, session, { ...this.#options(), signal })
      const { outcome } = opened.receipt
      return { ...opened, isFresh: outcome === 'created' || outcome === 'cold' }
    })
  }

  #resolve(ref: WorkspaceRef, signal: AbortSignal): Promise<OpenedBackend> {
    const provider = this.#requireProvider()
    return this.#attempt(signal, async (attemptSignal) => {
      const { session } = this.#context
      const config = this.#declaration.provider
      const options = { ...this.#options(), session, config, signal: attemptSignal }
      return { ...(await provider.resolve(ref, options)), isFresh: false }
    })
  }

  #options() {
    const { name, capabilities } = this.#declaration
    return {
      workspace: name,
      capabilities,
      logger: this.#context.logger,
      clock: this.#context.clock,
    }
  }

  #requireProvider(): WorkspaceProvider {
    if (this.#provider !== undefined) return this.#provider
    const { name, provider } = this.#declaration
    throw unknownKind(name, provider.kind, [...this.#context.providers.keys()])
  }

  /** One call of the provider. The backend of one that timed out is released when it comes. */
  async #attempt<Backend extends OpenedBackend | undefined>(
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Backend>,
  ): Promise<Backend> {
    const { clock, openTimeoutMs: timeoutMs } = this.#context
    if (timeoutMs === undefined) return run(signal)
    const overrun = new AbortController()
    const pending = run(AbortSignal.any([signal, overrun.signal]))
    const error = new WorkspaceFailedError(
      'open-timeout',
      `workspace "${this.#declaration.name}" did not open within ${timeoutMs} ms`,
      { transient: true, hint: 'Try again later.' },
    )
    const onTimeout = (): WorkspaceFailedError => {
      overrun.abort(error)
      // When it ends with an error, as it was asked to, there is nothing to release.
      void pending.then(
        (backend) => backend && this.#release(backend),
        () => undefined,
      )
      return error
    }
    return withDeadline(pending, { clock, timeoutMs, onTimeout })
  }

  /** Gives back a backend that will not be used. Never rejects: the reason matters more. */
  async #release({ ws, isFresh }: OpenedBackend): Promise<void> {
    await this.end(ws, isFresh ? 'end' : 'detach')
  }
}

/** The backend of a ref is gone for good. */
export function isLost(error: unknown): boolean {
  return WorkspaceEvictedError.isInstance(error) && error.code === 'lost'
}

/** Runs the provider's end-of-life policy, or only lets go of the handles. */
export async function endWorkspace(workspace: Workspace, mode: CloseMode): Promise<void> {
  if (mode === 'end') await workspace.close()
  else await workspace.detach?.()
}

/** Earlier files existed, so a backend that was just made is not simply `created`. */
function asCold(backend: OpenedBackend): OpenedBackend {
  if (backend.receipt.outcome !== 'created') return backend
  return { ...backend, receipt: { ...backend.receipt, outcome: 'cold' } }
}
