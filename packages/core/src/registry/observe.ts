import { HelixError } from '../errors/helix-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import type { PolicyRejection } from '../modules/define-module.ts'
import { failSpan, traced } from '../telemetry/traced.ts'
import type { Span } from '../telemetry/tracer.ts'
import type {
  WorkspaceLifecycleEvent,
  WorkspaceLifecycleListener,
} from '../workspace/lifecycle-listener.ts'
import type { WorkspaceLabels } from '../workspace/metrics.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { OpenedWorkspace } from '../workspace/provider.ts'
import type { RegistryContext } from './registry-context.ts'
import type { CloseMode, OwedDestroy } from './registry-deps.ts'
import type { WorkspaceState } from './entry/state-machine.ts'

/** What an event says about the backend of a workspace. */
interface Subject {
  /** Absent when the backend was never reached. */
  readonly workspaceId?: string
  readonly ref: WorkspaceRef | undefined
}

/**
 * The only place that reports what happens to a workspace: metrics, logs, spans and lifecycle
 * events of every transition are written here.
 */
export class WorkspaceObserver {
  readonly #labels: WorkspaceLabels
  readonly #context: RegistryContext
  /** Of the one open, resolve or switch in flight. */
  #openSpan: Span | undefined
  #openRetries = 0

  constructor(labels: WorkspaceLabels, context: RegistryContext) {
    this.#labels = labels
    this.#context = context
  }

  moved(state: WorkspaceState, previous: WorkspaceState): void {
    this.#context.metrics.setState(this.#labels, state, previous)
  }

  /** Runs an open or a resolve inside its span, which gets the outcome and the retries. */
  traceOpen<T>(action: 'open' | 'resolve', open: () => Promise<T>): Promise<T> {
    // Only the end of the registry stops an open.
    const { signal } = this.#context.lifetime
    const describe = () => ({
      name: `helix.workspace.${action}`,
      attributes: this.#attributes(),
      signal,
    })
    return traced(this.#context.tracer, describe, async (span) => {
      this.#openSpan = span
      this.#openRetries = 0
      try {
        return await open()
      } finally {
        span?.setAttribute('helix.workspace.retries', this.#openRetries)
        this.#openSpan = undefined
      }
    })
  }

  openRetried(): void {
    this.#openRetries++
    this.#context.metrics.incTransientRetry(this.#labels)
  }

  /** The backend is gone for good, and another one takes its place. */
  lost(err: unknown): void {
    this.#context.logger.warn(this.#fields({ err }), logMessages.workspaceLost)
  }

  opened(backend: OpenedWorkspace, durationMs: number): void {
    const { metrics } = this.#context
    this.switched(backend)
    metrics.incOpen(this.#labels, backend.receipt.outcome)
    metrics.observeOpenMs(this.#labels, durationMs)
  }

  /** The session uses another backend from now on. */
  switched({ ws, ref, receipt }: OpenedWorkspace): void {
    this.#openSpan?.setAttribute('helix.workspace.outcome', receipt.outcome)
    const workspaceId = ws.id
    this.#notify((listener) =>
      listener.onOpen?.({ ...this.#event({ ref }), workspaceId, ref, receipt }),
    )
  }

  openFailed(error: HelixError): void {
    this.#context.metrics.incOpenFailure(this.#labels, error.code)
    const fields = this.#fields({ code: error.code, err: error })
    this.#context.logger.error(fields, logMessages.openFailed)
  }

  /** An operation ended. The hot path: without a listener nothing is made. */
  operated(
    workspaceId: string,
    ref: WorkspaceRef | undefined,
    outcome: { result?: unknown },
  ): void {
    if (this.#context.lifecycle?.onActivity === undefined) return
    const succeeded = 'result' in outcome
    const timedOut = isTimedOut(outcome.result)
    this.#notify((listener) =>
      listener.onActivity?.({ ...this.#event({ ref }), workspaceId, succeeded, timedOut }),
    )
  }

  evicted(): void {
    this.#context.metrics.incEviction(this.#labels)
  }

  evictionRetried(): void {
    this.#context.metrics.incEvictionRetry(this.#labels)
  }

  evictionRetryExhausted(err: unknown): void {
    const code = HelixError.isInstance(err) ? err.code : undefined
    this.#context.logger.error(this.#fields({ code, err }), logMessages.evictionRetryExhausted)
  }

  /** A policy rejected an operation: one rate-limited warning and a metric. */
  rejected({ code, key, message, fields }: PolicyRejection): void {
    const { auditLogger, metrics, session } = this.#context
    metrics.incPolicyRejection(this.#labels, code)
    auditLogger.warnRateLimited(`${this.#labels.workspace} ${key}`, message, {
      ...fields,
      ...this.#labels,
      sessionId: session.sessionId,
    })
  }

  /** Runs a close inside its span; without `isTraced` there is nothing to close, and no span. */
  traceClose<T>(
    mode: CloseMode,
    isTraced: boolean,
    close: (fail: (error: unknown) => void) => Promise<T>,
  ): Promise<T> {
    const describe = () => ({
      name: 'helix.workspace.close',
      attributes: { ...this.#attributes(), 'helix.workspace.close.mode': mode },
    })
    const tracer = isTraced ? this.#context.tracer : undefined
    return traced(tracer, describe, (span) => close((error) => failSpan(span, error)))
  }

  closed(workspaceId: string, ref: WorkspaceRef | undefined, mode: CloseMode): void {
    this.#context.metrics.incClose(this.#labels, mode)
    this.detached(workspaceId, ref, mode)
  }

  /** A handle was let go that a switch has replaced. */
  detached(workspaceId: string, ref: WorkspaceRef | undefined, mode: CloseMode = 'detach'): void {
    this.#notify((listener) => listener.onClose?.({ ...this.#event({ ref }), workspaceId, mode }))
  }

  closeFailed(mode: CloseMode, err: unknown): void {
    this.#context.logger.error(this.#fields({ mode, err }), logMessages.closeFailed)
  }

  closeTimedOut(mode: CloseMode, err: unknown): void {
    this.#context.logger.error(this.#fields({ mode, err }), logMessages.closeTimedOut)
    this.#context.metrics.incCloseTimeout(this.#labels)
  }

  /** A backend should be gone, and may still be there. */
  owed(subject: Subject, reason: OwedDestroy['reason']): void {
    this.#notify((listener) => listener.onOwed?.({ ...this.#event(subject), reason }))
  }

  #fields(fields: object): object {
    return { ...this.#labels, sessionId: this.#context.session.sessionId, ...fields }
  }

  #attributes() {
    const { workspace, providerId } = this.#labels
    return { 'helix.workspace.name': workspace, 'helix.workspace.provider': providerId }
  }

  #event({ workspaceId, ref }: Subject): WorkspaceLifecycleEvent {
    return {
      ...this.#labels,
      session: this.#context.session,
      ...(workspaceId !== undefined && { workspaceId }),
      ...(ref !== undefined && { ref }),
    }
  }

  /** A listener cannot break what it is notified of. */
  #notify(call: (listener: WorkspaceLifecycleListener) => void): void {
    const { lifecycle, logger } = this.#context
    if (lifecycle === undefined) return
    try {
      call(lifecycle)
    } catch (err) {
      logger.error({ err }, logMessages.lifecycleListenerFailed)
    }
  }
}

/** Only the result of a command says so. */
function isTimedOut(result: unknown): boolean {
  const isObject = typeof result === 'object' && result !== null
  return isObject && 'timedOut' in result && result.timedOut === true
}
