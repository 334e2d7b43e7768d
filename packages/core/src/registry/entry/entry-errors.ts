import { HelixError } from '../../errors/helix-error.ts'
import { WorkspaceEvictedError } from '../../errors/workspace-evicted-error.ts'
import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'

/** The session is closing, or closed. */
export function closedError(name: string, cause?: unknown): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', `workspace "${name}" is closed`, {
    ...(cause !== undefined && { cause }),
    hint: 'The session is ending: finish with what you have.',
  })
}

/**
 * The error of a failed open, as its callers get it. Never an eviction: that would look like one
 * of the operation that asked for the workspace.
 * @param closed Aborts when the registry closes.
 */
export function toOpenError(error: unknown, name: string, closed: AbortSignal): HelixError {
  if (closed.aborted) return closedError(name, error)
  if (WorkspaceEvictedError.isInstance(error)) return goneAtOpen(error, name)
  if (HelixError.isInstance(error)) return error
  return new WorkspaceFailedError('provider-failed', `workspace "${name}" could not be opened`, {
    cause: error,
    hint: 'Continue without this workspace; an operator must inspect it.',
  })
}

function goneAtOpen(error: WorkspaceEvictedError, name: string): WorkspaceFailedError {
  if (error.code === 'lost') {
    return new WorkspaceFailedError(
      'provider-failed',
      `workspace "${name}" is gone for good, and its declaration forbids a fresh one`,
      { cause: error, hint: 'Continue without this workspace and say that its files are lost.' },
    )
  }
  return new WorkspaceFailedError('provider-failed', `workspace "${name}" went away again`, {
    transient: true,
    cause: error,
    hint: 'Try again later.',
  })
}

/**
 * Evictions that some registry has handled. They pass through an enclosing operation on another
 * workspace, which is not evicted by them.
 */
const handled = new WeakSet<object>()

/** Whether an operation ended because the backend of its own workspace is gone. */
export function isOwnEviction(error: unknown): error is WorkspaceEvictedError {
  return WorkspaceEvictedError.isInstance(error) && !handled.has(error)
}

/** The backend was gone at the first attempt of an operation, and at the second. */
export function goneTwice(name: string, cause: WorkspaceEvictedError): WorkspaceEvictedError {
  return asHandled(
    new WorkspaceEvictedError(`workspace "${name}" went away twice during the operation`, {
      cause,
      admitted: cause.admitted,
      hint: 'Try again later.',
    }),
  )
}

/** The operation may have run, and must not run twice. */
export function outcomeUnknown(name: string, cause: WorkspaceEvictedError): WorkspaceEvictedError {
  return asHandled(
    new WorkspaceEvictedError(
      `workspace "${name}" went away during the operation, which may or may not have run`,
      {
        code: 'outcome-unknown',
        cause,
        hint: 'Check the state of the workspace before you repeat the operation.',
      },
    ),
  )
}

function asHandled(error: WorkspaceEvictedError): WorkspaceEvictedError {
  handled.add(error)
  return error
}
