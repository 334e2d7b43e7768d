import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { CHUNK_BYTES } from '../limits.ts'

/** Text that a command adds to a file, read in pieces. */
export class GrowingText {
  readonly #path: string
  readonly #decoder = new StringDecoder('utf8')
  #offset = 0

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Hands on what was added since the last time.
   * @param take - Returns false when it wants no more until the next call.
   * @returns Whether everything there is was handed on.
   */
  drain(take: (text: string) => boolean): boolean {
    const fd = openOrNothing(this.#path)
    if (fd === undefined) return true
    try {
      return this.#drainFrom(fd, take)
    } finally {
      closeSync(fd)
    }
  }

  #drainFrom(fd: number, take: (text: string) => boolean): boolean {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, this.#offset)
      if (count === 0) return true
      this.#offset += count
      const text = this.#decoder.write(chunk.subarray(0, count))
      if (text !== '' && !take(text)) return false
    }
  }
}

function openOrNothing(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch {
    // Not there yet.
    return undefined
  }
}
