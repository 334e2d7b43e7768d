import { HelixError } from './helix-error.ts'
import { ToolInputError } from './tool-input-error.ts'

/** What the model reads of an error: never a host path, another tenant's id, a secret or a stack. */
export interface ToolError {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

const INTERNAL: ToolError = {
  code: 'internal',
  message: 'The tool failed for a reason that is not shown here.',
  hint: 'Try another way, or report that this tool does not work.',
}

/**
 * Reduces any error to what the model may read. Only errors of the framework speak; the text
 * of every other error (and every `cause`) stays with the operator.
 */
export function toToolError(error: unknown): ToolError {
  if (!HelixError.isInstance(error)) return isAbort(error) ? ABORTED : INTERNAL
  const fields = ToolInputError.isInstance(error)
    ? error.issues.map(
        (issue) => `\n- ${issue.path === '' ? 'arguments' : issue.path}: ${issue.message}`,
      )
    : []
  const message = error.message + fields.join('')
  return error.hint === undefined
    ? { code: error.code, message }
    : { code: error.code, message, hint: error.hint }
}

/** One text for the model, from {@link toToolError}. */
export function renderToolError(error: ToolError): string {
  const hint = error.hint === undefined ? '' : `\nHint: ${error.hint}`
  return `Error [${error.code}]: ${error.message}${hint}`
}

const ABORTED: ToolError = { code: 'aborted', message: 'The call was stopped before it ended.' }

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}
