import type { OutputCut } from '@helix-agents/core/provider'

const HEAD_SHARE = 0.1

/** What is left of an output: all of it, or head and tail. */
export interface KeptOutput {
  readonly bytes: Uint8Array
  readonly cut?: Omit<OutputCut, 'path'>
}

/** Keeps an output up to a limit; of a longer one, a tenth from its start, the rest from its end. */
export class HeadTail {
  readonly #limit: number
  readonly #headBytes: number
  #pieces: Buffer[] = []
  #head: Buffer | undefined
  #ring: Buffer | undefined
  #ringNext = 0
  #total = 0

  constructor(limitBytes: number) {
    this.#limit = Math.max(0, Math.floor(limitBytes))
    this.#headBytes = Math.floor(this.#limit * HEAD_SHARE)
  }

  get totalBytes(): number {
    return this.#total
  }

  /** Everything so far is kept. */
  get isWhole(): boolean {
    return this.#total <= this.#limit
  }

  /** All pieces while the output is whole. */
  get pieces(): readonly Buffer[] {
    return this.#pieces
  }

  /** @param piece Copied: the caller may use its buffer again. */
  add(piece: Uint8Array): void {
    this.#total += piece.length
    if (this.isWhole) {
      this.#pieces.push(Buffer.from(piece))
      return
    }
    if (this.#ring === undefined) this.#overflow()
    this.#addToTail(piece)
  }

  result(): KeptOutput {
    if (this.isWhole) return { bytes: plain(Buffer.concat(this.#pieces)) }
    const cut = { totalBytes: this.#total, headBytes: this.#headBytes }
    const [head, ring] = [this.#head, this.#ring]
    if (head === undefined || ring === undefined) return { bytes: new Uint8Array(), cut }
    const tail = [ring.subarray(this.#ringNext), ring.subarray(0, this.#ringNext)]
    return { bytes: plain(Buffer.concat([head, ...tail])), cut }
  }

  /** From now on only head and tail are kept. */
  #overflow(): void {
    const whole = Buffer.concat(this.#pieces)
    this.#pieces = []
    // The head may reach into the piece that is one too many: it is filled first.
    this.#head = Buffer.alloc(this.#headBytes)
    this.#ring = Buffer.alloc(this.#limit - this.#headBytes)
    this.#headFilled = 0
    this.#addToTail(whole)
  }

  #headFilled = 0

  #addToTail(piece: Uint8Array): void {
    const rest = this.#fillHead(piece)
    const ring = this.#ring
    if (ring === undefined || ring.length === 0) return
    const last = rest.subarray(Math.max(0, rest.length - ring.length))
    const first = Math.min(last.length, ring.length - this.#ringNext)
    ring.set(last.subarray(0, first), this.#ringNext)
    ring.set(last.subarray(first), 0)
    this.#ringNext = (this.#ringNext + last.length) % ring.length
  }

  #fillHead(piece: Uint8Array): Uint8Array {
    if (this.#head === undefined || this.#headFilled === this.#headBytes) return piece
    const part = piece.subarray(0, this.#headBytes - this.#headFilled)
    this.#head.set(part, this.#headFilled)
    this.#headFilled += part.length
    return piece.subarray(part.length)
  }
}

/** A view that is no Node buffer and shares memory with nothing. */
function plain(bytes: Buffer): Uint8Array {
  return Uint8Array.from(bytes)
}
