const SEPARATOR = 0x1e

/** One output of an interpreter: what it prints until the mark of the run comes. */
export class MarkedStream {
  readonly #take: (piece: Uint8Array) => void
  #mark: Buffer | undefined
  #held: Uint8Array = new Uint8Array()
  #reached = Promise.withResolvers<void>()

  /** @param take Gets what a run prints, in memory that nothing else uses. */
  constructor(take: (piece: Uint8Array) => void) {
    this.#take = take
  }

  /** Settles at the mark. */
  get reached(): Promise<void> {
    return this.#reached.promise
  }

  begin(mark: string): void {
    this.#mark = Buffer.from(`\u001e${mark}\u001e`)
    this.#held = new Uint8Array()
    this.#reached = Promise.withResolvers<void>()
  }

  /** What is held back may be the start of a mark, and is none now. */
  end(): void {
    if (this.#mark !== undefined && this.#held.length > 0) this.#take(this.#held)
    this.#mark = undefined
    this.#held = new Uint8Array()
  }

  /** Between two runs nothing is taken. */
  add(piece: Uint8Array): void {
    const mark = this.#mark
    if (mark === undefined) return
    const bytes = Buffer.concat([this.#held, piece])
    const at = bytes.indexOf(mark)
    if (at >= 0) {
      this.#held = bytes.subarray(0, at)
      this.end()
      this.#reached.resolve()
      return
    }
    const from = bytes.indexOf(SEPARATOR, Math.max(0, bytes.length - mark.length + 1))
    const end = from < 0 ? bytes.length : from
    this.#held = bytes.subarray(end)
    if (end > 0) this.#take(bytes.subarray(0, end))
  }
}
