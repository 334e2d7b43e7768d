import { HeadTail, type OutputCut, type ShellRunOptions } from '@helix-agents/core/provider'
import type { SpillFile } from './spill-file.ts'

export interface CaptureOptions {
  /** Bytes to return. */
  readonly limitBytes: number
  /** Where an output over the limit goes as a whole. */
  readonly spill: SpillFile
  /** Which callback of the run is awaited for each piece. */
  readonly callback: 'onStdout' | 'onStderr'
  readonly run: ShellRunOptions
  /** Receives what the callback throws. */
  readonly errors: Error[]
}

/** One of the two outputs of a command. */
export class OutputCapture {
  readonly #kept: HeadTail
  readonly #options: CaptureOptions
  #isSpilling = false

  constructor(options: CaptureOptions) {
    this.#kept = new HeadTail(options.limitBytes)
    this.#options = options
  }

  /** Takes the next piece; see `OutputSink`. */
  readonly add = (piece: Uint8Array): Promise<void> | void => {
    this.#spill(piece)
    this.#kept.add(piece)
    const { callback, run } = this.#options
    // The reader uses its buffer again: the memory of a callback is its own.
    return run[callback] === undefined ? undefined : this.#callBack(Uint8Array.from(piece))
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

  async #callBack(piece: Uint8Array): Promise<void> {
    const { callback, errors, run } = this.#options
    try {
      await run[callback]?.(piece)
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
