import type { OutputCut } from '@helix-agents/core/provider'
import { HeadTail } from './head-tail.ts'
import type { SpillFile } from './spill-file.ts'

/** A callback of the caller; its memory is its own. */
export type OnPiece = (piece: Uint8Array) => void | Promise<void>

export interface CaptureOptions {
  /** Bytes to return. */
  readonly limitBytes: number
  /** Where an output over the limit goes as a whole. */
  readonly spill: SpillFile
  /** Awaited for each piece. */
  readonly onPiece: OnPiece | undefined
  /** Takes what `onPiece` throws. */
  readonly onError: (error: Error) => void
}

/** One of the two outputs of a command. */
export class CapturedOutput {
  readonly #kept: HeadTail
  readonly #options: CaptureOptions
  #isSpilling = false

  constructor(options: CaptureOptions) {
    this.#kept = new HeadTail(options.limitBytes)
    this.#options = options
  }

  /** Takes the next piece; see `OutputSink`. */
  add(piece: Uint8Array): Promise<void> | void {
    this.#spill(piece)
    this.#kept.add(piece)
    if (this.#options.onPiece === undefined) return undefined
    return this.#callBack(this.#options.onPiece, Uint8Array.from(piece))
  }

  /**
   * What to return. Call once.
   * @param publish Puts the whole output into the workspace and returns its path there.
   */
  finish(publish: (hostPath: string) => string | undefined): {
    readonly bytes: Uint8Array
    readonly cut?: OutputCut
  } {
    const { bytes, cut } = this.#kept.result()
    const { spill } = this.#options
    spill.close()
    if (cut === undefined) return { bytes }
    const path = spill.isWhole ? publish(spill.hostPath) : undefined
    spill.remove()
    return { bytes, cut: path === undefined ? cut : { ...cut, path } }
  }

  #spill(piece: Uint8Array): void {
    const { spill, limitBytes } = this.#options
    if (!this.#isSpilling) {
      if (this.#kept.totalBytes + piece.length <= limitBytes) return
      this.#isSpilling = true
      for (const earlier of this.#kept.pieces) spill.write(earlier)
    }
    spill.write(piece)
  }

  async #callBack(onPiece: OnPiece, piece: Uint8Array): Promise<void> {
    try {
      await onPiece(piece)
    } catch (error) {
      this.#options.onError(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
