import { FileSystemError, type FileSystemErrorCode } from '../errors/file-system-error.ts'
import { HelixError } from '../errors/helix-error.ts'
import { PolicyError } from '../errors/policy-error.ts'
import { ToolInputError } from '../errors/tool-input-error.ts'
import type { WorkspaceEvictedError } from '../errors/workspace-evicted-error.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { backoffMs } from '../time/backoff.ts'

/** What is lost stays lost, and an attempt that timed out has cost its caller enough. */
const NEVER_RETRIED: ReadonlySet<string> = new Set(['lost', 'open-timeout'])

/** Whether another attempt to open can help. */
export function isRetryable(error: unknown): error is HelixError {
  return HelixError.isInstance(error) && error.transient && !NEVER_RETRIED.has(error.code)
}

/**
 * Milliseconds before the next attempt to open: growing with the retries made so far, and never
 * less than the error asks for.
 * @param random In [0, 1); the jitter.
 */
export function retryDelayMs(error: HelixError, retriesMade: number, random: () => number): number {
  const requested = WorkspaceFailedError.isInstance(error) ? (error.retryAfterMs ?? 0) : 0
  return Math.max(backoffMs(retriesMade, random), requested)
}

/** Whether an operation that an eviction interrupted may run a second time. */
export function mayRepeat(error: WorkspaceEvictedError, isIdempotent: boolean): boolean {
  return isIdempotent || error.admitted === 'no'
}

/** Why and when a workspace failed to open. */
export interface OpenFailure {
  readonly error: HelixError
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * Whether a failed workspace may be opened again without an operator: its error was transient,
 * or the cooldown is over.
 * @param resetAfterMs The cooldown; undefined: a permanent failure stays.
 */
export function mayReopen(
  { error, at }: OpenFailure,
  now: number,
  resetAfterMs: number | undefined,
): boolean {
  return error.transient || (resetAfterMs !== undefined && now - at >= resetAfterMs)
}

/** File system errors that may come from a faulty backend; the others come from a healthy one. */
const BACKEND_FAULTS: ReadonlySet<FileSystemErrorCode> = new Set([
  'permission-denied',
  'storage-full',
  'content-missing',
])

/**
 * What an error of an operation says about its workspace. `rejected`: the operation never began.
 * `answered`: the backend works, and its answer is an error. `failed`: anything else.
 */
export function classifyError(error: unknown): 'rejected' | 'answered' | 'failed' {
  if (PolicyError.isInstance(error) || ToolInputError.isInstance(error)) return 'rejected'
  const isAnswer = FileSystemError.isInstance(error) && !BACKEND_FAULTS.has(error.code)
  return isAnswer ? 'answered' : 'failed'
}
