import type { Caller } from '../route/caller.ts'
import { RequestError } from './http-error.ts'

const RETRY_AFTER_SECONDS = '5'

/** A limit that is reached now, and not for long. */
export function tooMany(code: string, message: string): RequestError {
  return new RequestError(429, code, message, { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
}

/**
 * Whether one more of something that holds memory is accepted for a caller. One `userId` has at most
 * half of the places. Callers that only read have at most three quarters of them together, so that
 * they cannot lock out those that may write. Callers without a `userId` cannot be told apart.
 */
export function hasPlace(taken: readonly Caller[], caller: Caller, max: number): boolean {
  if (!(taken.length < max)) return false
  const { userId, isReadOnly = false } = caller
  const own = taken.filter((other) => other.userId === userId).length
  if (userId !== undefined && own >= Math.ceil(max / 2)) return false
  if (!isReadOnly) return true
  const readers = taken.filter((other) => other.isReadOnly === true).length
  return readers < max - Math.floor(max / 4)
}

export interface PlacesOptions {
  readonly max: number
  /** Code of the refusal. */
  readonly code: string
  /** What the places are for, in plural. */
  readonly what: string
}

/** Counts, by caller, what holds memory of an object. */
export class CallerPlaces {
  readonly #options: PlacesOptions
  readonly #taken = new Set<{ readonly caller: Caller }>()

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** The result gives the place back. @throws {RequestError} 429 when the caller gets no place. */
  take(caller: Caller): () => void {
    const { max, code, what } = this.#options
    const callers = [...this.#taken].map((place) => place.caller)
    if (!hasPlace(callers, caller, max)) {
      throw tooMany(code, `the session has too many ${what}, in all or of this caller: ${max}`)
    }
    const place = { caller }
    this.#taken.add(place)
    return () => void this.#taken.delete(place)
  }
}
