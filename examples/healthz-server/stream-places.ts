import { RequestError } from './http-error.ts'

export interface StreamLimits {
  /** Readers of streams at a time. */
  readonly max: number
  /** Those of one caller, so that none takes the places of all others. */
  readonly maxPerCaller: number
}

/** Counts the readers of streams: each holds a connection and asks the store for new chunks. */
export class StreamPlaces {
  readonly #limits: StreamLimits
  readonly #callers = new Map<string, number>()
  #taken = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /**
   * Takes a place for a reader.
   * @returns gives it back; calls after the first do nothing.
   * @throws {RequestError} 429 when all places, or those of this caller, are taken.
   */
  take(caller: string): () => void {
    const { max, maxPerCaller } = this.#limits
    const own = this.#callers.get(caller) ?? 0
    if (own >= maxPerCaller) throw tooMany(`${maxPerCaller} streams are read from your address`)
    if (this.#taken >= max) throw tooMany(`${max} streams are read`)
    this.#callers.set(caller, own + 1)
    this.#taken += 1
    let isGiven = false
    return () => {
      if (isGiven) return
      isGiven = true
      this.#taken -= 1
      const left = (this.#callers.get(caller) ?? 1) - 1
      if (left === 0) this.#callers.delete(caller)
      else this.#callers.set(caller, left)
    }
  }
}

function tooMany(message: string): RequestError {
  return new RequestError(429, 'too-many-streams', message)
}
