import { HelixError } from '@helix-agents/core'

/**
 * Codes of `QueueError`. `unavailable`: the database does not answer. `access-denied`: it refuses the user
 * or what the user does. `database-missing`: the server has no such database. `invalid-option`: an option
 * cannot be used. `invalid-turn`: a turn cannot be stored.
 */
export type QueueErrorCode =
  | 'unavailable'
  | 'access-denied'
  | 'database-missing'
  | 'invalid-option'
  | 'invalid-turn'

/** The queue of turns cannot be used. */
export class QueueError extends HelixError {
  override readonly name = 'QueueError'
  readonly code: QueueErrorCode
  readonly transient: boolean

  constructor(code: QueueErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.transient = code === 'unavailable'
  }

  static override isInstance(value: unknown): value is QueueError {
    return HelixError.isInstance(value) && value.name === 'QueueError'
  }
}

/** By SQLSTATE. */
const CODES: ReadonlyMap<unknown, QueueErrorCode> = new Map([
  ['28P01', 'access-denied'],
  ['28000', 'access-denied'],
  ['42501', 'access-denied'],
  ['3D000', 'database-missing'],
])

const TEXTS = new Map<QueueErrorCode, string>([
  ['unavailable', 'the database of the queue does not answer'],
  ['access-denied', 'the database of the queue denies access to this user'],
  ['database-missing', 'the server has no such database'],
  ['invalid-turn', 'the database of the queue cannot hold a value of the call'],
])

/** Class 22 of SQLSTATE: the same call fails again. */
function isDataError(state: unknown): boolean {
  return typeof state === 'string' && /^22...$/.test(state)
}

/** What the database threw, as an error without its address and its user. */
export function toQueueError(cause: unknown): QueueError {
  if (QueueError.isInstance(cause)) return cause
  const state = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const code = CODES.get(state) ?? (isDataError(state) ? 'invalid-turn' : 'unavailable')
  return new QueueError(code, TEXTS.get(code) ?? code, { cause })
}
