import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `conflict`: another writer was first, or this run lost its lease. `not-found`: no such
 * session. `corrupt`: the stored data cannot be read. `unavailable`: the store did not answer.
 * `invalid-query`: a limit, an offset or a cursor that cannot be used. `schema-version`: the
 * database was made by another release and cannot be used by this one. `not-storable`: an id, a
 * message or a value has the wrong shape or is over `contentLimits`; nothing of it is stored.
 */
export type StateStoreErrorCode =
  | 'conflict'
  | 'not-found'
  | 'corrupt'
  | 'unavailable'
  | 'invalid-query'
  | 'schema-version'
  | 'not-storable'

/** The session store could not do what was asked; other sessions are not affected. */
export class StateStoreError extends HelixError {
  override readonly name = 'StateStoreError'
  readonly code: StateStoreErrorCode
  readonly transient: boolean
  /** Empty when the call was about no session in particular. */
  readonly sessionId: string

  constructor(
    code: StateStoreErrorCode,
    sessionId: string,
    detail: string,
    options: HelixErrorOptions = {},
  ) {
    super(sessionId === '' ? detail : `session ${sessionId}: ${detail}`, options)
    this.code = code
    this.transient = code === 'unavailable'
    this.sessionId = sessionId
  }

  static override isInstance(value: unknown): value is StateStoreError {
    return HelixError.isInstance(value) && value.name === 'StateStoreError'
  }
}
