import type { OutputCut } from '../contract.ts'

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
  #pieces: Uint8Array[] = []
  #head: Uint8Array | undefined
  #headFilled = 0
  #ring: Uint8Array | undefined
  #ringNext = 0
  #total = 0

  /** @param limitBytes The most that is kept, in bytes. */
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
  get pieces(): readonly Uint8Array[] {
    return this.#pieces
  }

  /** @param piece Copied: the caller may use its buffer again. */
  add(piece: Uint8Array): void {
    this.#total += piece.length
    if (this.isWhole) {
      this.#pieces.push(Uint8Array.from(piece))
      return
    }
    if (this.#ring === undefined) this.#overflow()
    this.#addToTail(piece)
  }

  /** What is kept so far, in memory that nothing else uses. */
  result(): KeptOutput {
    if (this.isWhole) return { bytes: concat(this.#pieces) }
    const cut = { totalBytes: this.#total, headBytes: this.#headBytes }
    const [head, ring] = [this.#head, this.#ring]
    if (head === undefined || ring === undefined) return { bytes: new Uint8Array(), cut }
    const tail = [ring.subarray(this.#ringNext), ring.subarray(0, this.#ringNext)]
    return { bytes: concat([head, ...tail]), cut }
  }

  /** From now on only head and tail are kept. */
  #overflow(): void {
    const whole = concat(this.#pieces)
    this.#pieces = []
    // The head may reach into the piece that is one too many: it is filled first.
    this.#head = new Uint8Array(this.#headBytes)
    this.#ring = new Uint8Array(this.#limit - this.#headBytes)
    this.#headFilled = 0
    this.#addToTail(whole)
  }

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

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}
