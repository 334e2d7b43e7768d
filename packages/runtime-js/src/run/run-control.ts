import type { Clock } from '@helix-agents/core'

/**
 * Why a run is stopped at once. `shutdown` leaves it resumable; `lease-lost` means that another
 * process may have resumed the session: nothing more may be written.
 */
export type StopCause = 'aborted' | 'max-duration' | 'shutdown' | 'lease-lost'

/** The ways to stop one run from outside. */
export class RunControl {
  readonly #abort = new AbortController()
  readonly #children = new Set<RunControl>()
  #cause: StopCause | undefined
  #interrupted = false
  #shutDown = false

  /** Aborts when the run must stop at once; reaches the model call and every tool. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Set once the run must stop at once. */
  get cause(): StopCause | undefined {
    return this.#cause
  }

  get interrupted(): boolean {
    return this.#interrupted
  }

  /** The process is about to end: the run was paused by that, not by its user. */
  get isShutDown(): boolean {
    return this.#shutDown || this.#cause === 'shutdown'
  }

  /** Stops the run at once. The first cause counts. */
  stop(cause: StopCause): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    for (const child of this.#children) child.stop(cause === 'max-duration' ? 'aborted' : cause)
    this.#abort.abort(new DOMException('the run was stopped', 'AbortError'))
  }

  /** Lets the run stop after the step under way. */
  interrupt(): void {
    this.#interrupted = true
    for (const child of this.#children) child.interrupt()
  }

  /** Interrupts the run since the process is about to end. */
  shutDown(): void {
    this.#shutDown = true
    for (const child of this.#children) child.shutDown()
    this.interrupt()
  }

  /** A sub-agent stops with its parent; the result ends that. */
  adopt(child: RunControl): () => void {
    this.#children.add(child)
    if (this.#cause !== undefined) child.stop(this.#cause)
    if (this.#shutDown) child.shutDown()
    if (this.#interrupted) child.interrupt()
    return () => void this.#children.delete(child)
  }

  /** Stops the run when its time is up; the result cancels that. */
  limit(clock: Clock, maxDurationMs: number | undefined): () => void {
    if (maxDurationMs === undefined) return () => {}
    const onTime = (): void => this.stop('max-duration')
    return clock.setTimer(maxDurationMs, onTime, { keepsProcessAlive: true })
  }

  /** Aborts with a signal of the caller; the result ends that. */
  follow(signal: AbortSignal | undefined): () => void {
    if (signal === undefined) return () => {}
    const stop = (): void => this.stop('aborted')
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    return () => signal.removeEventListener('abort', stop)
  }
}
