const FIRST_BYTES = 65_536

/** Gathers the pieces of a stream into parts of one size. */
export class PartBuffer {
  readonly #maxBytes: number
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#bytes = new Uint8Array(Math.min(FIRST_BYTES, maxBytes))
  }

  get isFull(): boolean {
    return this.#length === this.#maxBytes
  }

  /** Copies as much as fits. Returns how much that was. */
  add(piece: Uint8Array): number {
    const taken = Math.min(piece.length, this.#maxBytes - this.#length)
    this.#reserve(this.#length + taken)
    this.#bytes.set(piece.subarray(0, taken), this.#length)
    this.#length += taken
    return taken
  }

  /** What was gathered; the buffer is empty afterwards, and does not touch it again. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(Math.min(FIRST_BYTES, this.#maxBytes))
    this.#length = 0
    return taken
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const grown = new Uint8Array(Math.min(Math.max(length, this.#bytes.length * 4), this.#maxBytes))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
