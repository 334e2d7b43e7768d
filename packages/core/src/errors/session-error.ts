import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * Codes of `SessionError`. `not-resumable`: no run can be resumed. `other-agent`: the session belongs to
 * another agent. `invalid-message`: the input is not a valid user message. `not-removed`: a resource of
 * the session could not be released; the session is kept for a retry. `not-running`: the session has no
 * active run. `waiting`: a call of the session waits for a person, and a new turn would have to drop it.
 * `unknown-request`: the session has no such request. `already-decided`: the request has an answer;
 * `expired`: its time is over. `invalid-answer`: the answer does not fit the request, which stays open.
 * `files-missing`: a checkpoint has no files of a workspace that were asked for. `no-queue`: a turn cannot
 * be queued, since the executor has no queue. `turn-rejected`: no worker could start a queued turn.
 */
export type SessionErrorCode =
  | 'not-resumable'
  | 'other-agent'
  | 'invalid-message'
  | 'not-removed'
  | 'not-running'
  | 'waiting'
  | 'unknown-request'
  | 'already-decided'
  | 'expired'
  | 'invalid-answer'
  | 'files-missing'
  | 'no-queue'
  | 'turn-rejected'

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
