import { HelixError, type HelixErrorOptions } from './helix-error.ts'

export type WorkspaceFailedCode =
  | 'provider-failed'
  | 'capability-missing'
  | 'config-invalid'
  | 'ref-invalid'
  | 'ref-version'
  | 'open-timeout'
  | 'sharing-not-declared'
  | 'working-directory-missing'
  | 'closed'

export interface WorkspaceFailedOptions extends HelixErrorOptions {
  /** Set only when a retry can help; a failure is permanent unless the provider says so. */
  readonly transient?: boolean
  /** How long the platform asks to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number
}

/** The workspace cannot serve: retry when `transient`, otherwise an operator must act. */
export class WorkspaceFailedError extends HelixError {
  override readonly name = 'WorkspaceFailedError'
  readonly code: WorkspaceFailedCode
  readonly transient: boolean
  readonly retryAfterMs?: number

  constructor(code: WorkspaceFailedCode, detail: string, options: WorkspaceFailedOptions = {}) {
    super(detail, options)
    this.code = code
    this.transient = options.transient ?? false
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }

  static override isInstance(value: unknown): value is WorkspaceFailedError {
    return HelixError.isInstance(value) && value.name === 'WorkspaceFailedError'
  }
}
