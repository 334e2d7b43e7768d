import type { HelixError } from '../../errors/helix-error.ts'
import { classifyError } from '../retry-policy.ts'

/** An attempt that has begun, with what was recorded before it. */
export interface Attempt {
  readonly startedAt: number
  readonly lastAttemptAt: number | undefined
  readonly unsuccessfulSince: number | undefined
}

/** Times and counts of one workspace, for `describe()`. Times are milliseconds since the epoch. */
export class EntryHealth {
  evictions = 0
  retries = 0
  lastError: HelixError | undefined
  lastAttemptAt: number | undefined
  lastSuccessAt: number | undefined
  /** The first attempt that no success has followed. */
  unsuccessfulSince: number | undefined
  lastOpAt: number | undefined
  openedAt: number | undefined

  /** An open, a resolve or an operation begins. */
  begin(now: number): Attempt {
    const { lastAttemptAt, unsuccessfulSince } = this
    this.lastAttemptAt = now
    this.unsuccessfulSince ??= now
    return { startedAt: now, lastAttemptAt, unsuccessfulSince }
  }

  opened(now: number): void {
    this.#succeed(now)
    this.openedAt = now
  }

  operationSucceeded(now: number): void {
    this.lastOpAt = now
    this.#succeed(now)
  }

  /** A mistake of the model is no fault of the workspace. */
  operationFailed(error: unknown, attempt: Attempt, now: number): void {
    this.lastOpAt = now
    const kind = classifyError(error)
    if (kind === 'answered') this.#succeed(now)
    else if (kind === 'rejected') this.#undo(attempt)
  }

  openRetried(error: HelixError): void {
    this.retries++
    this.lastError = error
  }

  evicted(error: HelixError): void {
    this.evictions++
    this.lastError = error
  }

  #succeed(now: number): void {
    this.lastSuccessAt = now
    this.unsuccessfulSince = undefined
  }

  /** Unless a later attempt has begun. */
  #undo({ startedAt, lastAttemptAt, unsuccessfulSince }: Attempt): void {
    if (this.lastAttemptAt !== startedAt) return
    this.lastAttemptAt = lastAttemptAt
    this.unsuccessfulSince = unsuccessfulSince
  }
}
