import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `command-not-allowed`: the program is not in `shell.allowedCommands`. `shell-metacharacter`: with
 * an allowlist a command is one program and its arguments. `expansion`: with an allowlist nothing
 * expands globs and braces. `language-not-allowed`: it is not in `code.languages`. `path-denied`:
 * `fs.pathRules` forbid it. `cross-session`: the snapshot is of another session. `denied`: a person or
 * a permission rule denied the call. `request-expired`: the request of the call was not answered in time.
 */
export type PolicyErrorCode =
  | 'command-not-allowed'
  | 'shell-metacharacter'
  | 'expansion'
  | 'language-not-allowed'
  | 'path-denied'
  | 'cross-session'
  | 'denied'
  | 'request-expired'

/** The declaration of the agent forbids it; asking again changes nothing. */
export class PolicyError extends HelixError {
  override readonly name = 'PolicyError'
  readonly transient = false
  readonly code: PolicyErrorCode

  constructor(code: PolicyErrorCode, detail: string, options: HelixErrorOptions = {}) {
    super(detail, options)
    this.code = code
  }

  static override isInstance(value: unknown): value is PolicyError {
    return HelixError.isInstance(value) && value.name === 'PolicyError'
  }
}
