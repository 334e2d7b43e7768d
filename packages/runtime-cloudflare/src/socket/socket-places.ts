import { hasPlace, tooMany } from '../http/caller-places.ts'
import type { Caller } from '../route/caller.ts'

/** The sockets that an object has. */
export interface OpenSockets {
  /** How many: a subclass may have sockets of its own. */
  readonly count: number
  /** Who has those of clients. */
  readonly callers: readonly Caller[]
}

/** @throws {RequestError} 429 when there is no place for one more of a caller. */
export function assertSocketPlace(
  { count, callers }: OpenSockets,
  caller: Caller,
  max: number,
): void {
  if (count < max && hasPlace(callers, caller, max)) return
  const message = `the session has too many WebSockets, in all or of this caller: ${max}`
  throw tooMany('too-many-sockets', message)
}
