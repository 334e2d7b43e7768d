import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `provider-failed`: its provider could not open it; the cause is in the log.
 * `capability-missing`: it has not what the agent declares; change the declaration, or what the
 * provider is configured with. `config-invalid`: no provider of this kind is registered, or the
 * named options are wrong. `ref-invalid`: the stored ref is damaged, or another provider's or
 * session's; it is kept as it is. `ref-version`: a release too far from this one wrote the ref; run
 * one that reads it. `open-timeout`: it did not open within `openTimeoutMs`.
 * `sharing-not-declared`: an id that several sessions would share needs `shareAcrossSessions`.
 * `working-directory-missing`: its directory is gone and cannot be made again; see the hint.
 * `closed`: the session has ended with its workspaces.
 */
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

/** Options of `WorkspaceFailedError`. */
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
