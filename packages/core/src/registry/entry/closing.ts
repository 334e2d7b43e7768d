import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { BackendSource } from './backend.ts'
import type { WorkspaceObserver } from '../observe.ts'
import type { RegistryContext } from '../registry-context.ts'
import type { CloseMode, OwedDestroy } from '../registry-deps.ts'

/** What a close that failed leaves behind. */
export interface OwedBackend {
  readonly workspaceId?: string
  readonly ref: WorkspaceRef | undefined
}

export interface ClosingParts {
  readonly name: string
  readonly context: RegistryContext
  readonly observer: WorkspaceObserver
  readonly backends: BackendSource
  /** The backend as it is when the close has failed. */
  readonly owed: () => OwedBackend
}

/** The close of one workspace, within `closeTimeoutMs`. Its work may finish later. */
export class Closing {
  readonly mode: CloseMode
  readonly #parts: ClosingParts
  readonly #overrun = new AbortController()
  #isOverdue = false
  #isReleased = false

  constructor(mode: CloseMode, parts: ClosingParts) {
    this.mode = mode
    this.#parts = parts
  }

  /** Aborts when the time is up. */
  get signal(): AbortSignal {
    return this.#overrun.signal
  }

  /** The time is up: the session may belong to another process by now. */
  get isOverdue(): boolean {
    return this.#isOverdue
  }

  /** The backend is gone, or let go: nothing is owed. */
  released(): void {
    this.#isReleased = true
  }

  /**
   * Runs the work of the close. Never rejects; a failure is logged and reported.
   * @returns false when the backend may still be there and should not.
   */
  async run(work: Promise<void>, fail: (error: unknown) => void): Promise<boolean> {
    try {
      await this.#parts.backends.bounded(work, (error) => {
        this.#isOverdue = true
        this.#overrun.abort(error)
      })
    } catch (error) {
      fail(error)
      await this.#reportFailure(error)
    }
    return this.mode === 'detach' || this.#isReleased
  }

  async #reportFailure(error: unknown): Promise<void> {
    const { observer, backends, owed } = this.#parts
    if (this.#isOverdue) observer.closeTimedOut(this.mode, error)
    else observer.closeFailed(this.mode, error)
    if (this.mode === 'detach' || this.#isReleased) return
    const reason = this.#isOverdue ? 'timeout' : 'failed'
    observer.owed(owed(), reason)
    try {
      await backends.bounded(this.#handOver(reason))
    } catch (err) {
      observer.closeFailed(this.mode, err)
    }
  }

  async #handOver(reason: OwedDestroy['reason']): Promise<void> {
    const { name, context, backends, owed } = this.#parts
    const { ref } = owed()
    await context.onOwedDestroy({
      workspace: name,
      providerId: backends.providerId,
      session: context.session,
      ...(ref !== undefined && { ref }),
      reason,
    })
  }
}
