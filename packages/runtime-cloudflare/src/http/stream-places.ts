import { RequestError } from './http-error.ts'

const RETRY_AFTER_SECONDS = '5'

/** A request came to a limit that others will leave again. */
export function tooMany(code: string, message: string): RequestError {
  return new RequestError(429, code, message, { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
}

/** Counts those who read the stream of a session: each holds some memory of its object. */
export class StreamPlaces {
  readonly #max: number
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** The result gives the place back. @throws {RequestError} 429 when all are taken. */
  take(): () => void {
    if (!(this.#taken < this.#max)) {
      throw tooMany('too-many-readers', `the stream has ${this.#max} readers`)
    }
    this.#taken++
    return () => void this.#taken--
  }
}
