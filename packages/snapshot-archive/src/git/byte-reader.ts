import { SnapshotArchiveError } from '../archive-error.ts'

const MAX_LINE_BYTES = 64 * 1024

/** Reads a stream of bytes in lines and in counted parts. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Up to the byte, without it. `undefined` at the end of the stream. */
  async readTo(end: number): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = []
    for (let length = 0; length < MAX_LINE_BYTES;) {
      if (this.#rest.length === 0 && !(await this.#pull())) return undefined
      const at = this.#rest.indexOf(end)
      const part = at < 0 ? this.#rest : this.#rest.subarray(0, at)
      parts.push(part)
      length += part.length
      this.#rest = this.#rest.subarray(at < 0 ? this.#rest.length : at + 1)
      if (at >= 0) return Buffer.concat(parts)
    }
    throw new SnapshotArchiveError('repository-failed', 'git answered with a line without an end')
  }

  /** The next bytes, in parts. @throws {SnapshotArchiveError} when the stream ends before. */
  async *read(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#pull())) {
        throw new SnapshotArchiveError('repository-failed', 'git ended in the middle of an object')
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async #pull(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (next.done === true) return false
    this.#rest = next.value
    return true
  }
}
