import type { SessionLimits, SessionOutput } from '../protocol.ts'

/** Outputs are handed on in pieces of this many characters, so that a flood of lines is a few pieces. */
const PIECE_CHARACTERS = 16 * 1024
/** What an output costs beside its text. */
const OVERHEAD = 32

type Stream = 'stdout' | 'stderr'

/** The outputs of one run, joined and bounded; what is beyond the bounds is counted and dropped. */
export class OutputBuffer {
  readonly #publish: (outputs: readonly SessionOutput[]) => void
  #textLeft: number
  #displayLeft: number
  #omitted = 0
  #omittedDisplays = 0
  #stream: Stream = 'stdout'
  #pieces: string[] = []
  #length = 0

  constructor(limits: SessionLimits, publish: (outputs: readonly SessionOutput[]) => void) {
    this.#textLeft = limits.outputBytes
    this.#displayLeft = limits.displayBytes
    this.#publish = publish
  }

  print(stream: Stream, text: string): void {
    const kept = text.slice(0, Math.max(0, this.#textLeft))
    this.#textLeft -= text.length + (stream === this.#stream ? 0 : OVERHEAD)
    this.#omitted += text.length - kept.length
    if (kept === '') return
    if (stream !== this.#stream) this.flush()
    this.#stream = stream
    this.#pieces.push(kept)
    this.#length += kept.length
    if (this.#length >= PIECE_CHARACTERS) this.flush()
  }

  show(mime: string, data: string | Uint8Array): void {
    this.#displayLeft -= data.length + OVERHEAD
    if (this.#displayLeft < 0) {
      this.#omittedDisplays += 1
      return
    }
    this.flush()
    this.#publish([{ type: 'display', mime, data }])
  }

  /** A value of the run, cut to what is left for text. */
  cut(text: string): string {
    return text.length <= this.#textLeft ? text : text.slice(0, Math.max(0, this.#textLeft))
  }

  flush(): void {
    if (this.#pieces.length === 0) return
    const text = this.#pieces.join('')
    this.#pieces = []
    this.#length = 0
    this.#publish([{ type: this.#stream, text }])
  }

  /** Names what was dropped. */
  finish(): void {
    this.flush()
    const notices = [
      ...(this.#omitted > 0 ? [`${this.#omitted} characters of output are left out`] : []),
      ...(this.#omittedDisplays > 0 ? [`${this.#omittedDisplays} displays are left out`] : []),
    ]
    if (notices.length === 0) return
    this.#publish([{ type: 'stderr', text: `[${notices.join('; ')}]\n` }])
  }
}
