const LIMIT_BYTES = 64 * 1024

/** The last part of what a program printed. */
export class OutputTail {
  #chunks: Buffer[] = []
  #bytes = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes > LIMIT_BYTES && this.#chunks.length > 1) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0
    }
  }

  toString(): string {
    return Buffer.concat(this.#chunks).subarray(-LIMIT_BYTES).toString('utf8')
  }
}
