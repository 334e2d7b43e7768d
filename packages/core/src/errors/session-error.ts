import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `not-resumable`: there is nothing to go on with. `other-agent`: the session belongs to another
 * agent. `invalid-message`: what was given as the user's message is none. `not-removed`: something
 * that belongs to it could not be ended, and it is kept so that this can be tried again.
 * `not-running`: no run of it is under way. `runs-elsewhere`: its run is under way in another process,
 * and only that one can do what was asked.
 */
export type SessionErrorCode =
  | 'not-resumable'
  | 'other-agent'
  | 'invalid-message'
  | 'not-removed'
  | 'not-running'
  | 'runs-elsewhere'

/** A session cannot be used in the way that was asked. */
export class SessionError extends HelixError {
  override readonly name = 'SessionError'
  readonly transient = false
  readonly code: SessionErrorCode
  readonly sessionId: string

  constructor(
    code: SessionErrorCode,
    sessionId: string,
    detail: string,
    options: HelixErrorOptions = {},
  ) {
    super(`session ${sessionId}: ${detail}`, options)
    this.code = code
    this.sessionId = sessionId
  }

  static override isInstance(value: unknown): value is SessionError {
    return HelixError.isInstance(value) && value.name === 'SessionError'
  }
}
