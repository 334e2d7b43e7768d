import {
  FileSystemError,
  PolicyError,
  ToolFailedError,
  WorkspaceEvictedError,
} from '@helix-agents/core'
import { type ToolError, toToolError } from '@helix-agents/core/runtime'

/** A read or another call without traces was cut off. */
export const STOPPED: ToolError = toToolError(new DOMException('', 'AbortError'))

/** The process stopped while an earlier call was running that this one waited for. */
export const NOT_STARTED: ToolError = toToolError(
  new ToolFailedError('not-started', 'The process stopped before this call was started.', {
    hint: 'It has changed nothing: call it again when it is still needed.',
  }),
)

/** The user went on before anyone had answered the request of the call. */
export const WITHDRAWN: ToolError = toToolError(
  new PolicyError('denied', 'The user went on before this call was approved: it was not run.'),
)

/** The process stopped between the start of a call and the storing of its result. */
export const OUTCOME_UNKNOWN: ToolError = toToolError(
  new WorkspaceEvictedError(
    'The process stopped while this call was running: it may have taken effect or not.',
    { code: 'outcome-unknown', hint: 'Look at the result before you do it again.' },
  ),
)

/**
 * What the model reads of the error of a call. A write that runs again and finds the file changed
 * may have changed it itself, before the process stopped.
 */
export function toCallError(error: unknown, isRecovered: boolean): ToolError {
  const isStale = FileSystemError.isInstance(error) && error.code === 'stale-write'
  return isRecovered && isStale ? OUTCOME_UNKNOWN : toToolError(error)
}
