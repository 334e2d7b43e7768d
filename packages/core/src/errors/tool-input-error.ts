import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `invalid-input`: the named arguments are wrong. `unknown-tool`: the agent has no such tool; names
 * that come close are in the hint. `no-match`: the text to replace is not in the file; the nearest
 * is shown. `ambiguous-match`: it is there several times, in the named lines. `patch-failed`: a line
 * of the patch was not understood, or a hunk does not fit; nothing was changed.
 */
export type ToolInputErrorCode =
  | 'invalid-input'
  | 'unknown-tool'
  | 'no-match'
  | 'ambiguous-match'
  | 'patch-failed'

/** One field of the arguments that is wrong. */
export interface ToolInputIssue {
  /** Dotted path of the field; empty for the arguments as a whole. */
  readonly path: string
  readonly message: string
}

/** Options of `ToolInputError`. */
export interface ToolInputErrorOptions extends HelixErrorOptions {
  readonly issues?: readonly ToolInputIssue[]
}

/** The model asked for something that cannot be done as written; it can correct the call. */
export class ToolInputError extends HelixError {
  override readonly name = 'ToolInputError'
  readonly transient = false
  readonly code: ToolInputErrorCode
  readonly issues: readonly ToolInputIssue[]

  constructor(code: ToolInputErrorCode, detail: string, options: ToolInputErrorOptions = {}) {
    super(detail, options)
    this.code = code
    this.issues = options.issues ?? []
  }

  static override isInstance(value: unknown): value is ToolInputError {
    return HelixError.isInstance(value) && value.name === 'ToolInputError'
  }
}
