import {
  type FileSystem,
  HeadTail,
  INTERNAL_DIRECTORY,
  type OutputCut,
  type ShellRunOptions,
} from '@helix-agents/core/provider'
import type { Logger } from '@helix-agents/core'

/** Of an output over its limit so much is stored in the workspace. */
const MAX_STORED_BYTES = 16 * 1024 * 1024

export interface CaptureOptions {
  readonly limitBytes: number
  readonly callback: ShellRunOptions['onStdout']
  /** Receives what the callback throws. */
  readonly errors: Error[]
}

/** One of the two outputs of a command. */
export class OutputCapture {
  readonly #options: CaptureOptions
  readonly #kept: HeadTail
  readonly #whole: HeadTail
  #last: Promise<void> = Promise.resolve()

  constructor(options: CaptureOptions) {
    this.#options = options
    this.#kept = new HeadTail(options.limitBytes)
    this.#whole = new HeadTail(Math.max(options.limitBytes, MAX_STORED_BYTES))
  }

  /** Resolves when the callback has the piece; callbacks never overlap. */
  add(piece: Uint8Array): Promise<void> {
    this.#kept.add(piece)
    this.#whole.add(piece)
    const { callback } = this.#options
    if (callback === undefined) return this.#last
    this.#last = this.#callBack(callback, piece, this.#last)
    return this.#last
  }

  /** What to return; an output that was cut is stored as a whole, where it fits. */
  async finish(
    store: (bytes: Uint8Array) => Promise<string | undefined>,
  ): Promise<{ readonly bytes: Uint8Array; readonly cut?: OutputCut }> {
    await this.#last
    const { bytes, cut } = this.#kept.result()
    if (cut === undefined) return { bytes }
    const path = this.#whole.isWhole ? await store(this.#whole.result().bytes) : undefined
    return { bytes, cut: path === undefined ? cut : { ...cut, path } }
  }

  async #callBack(
    callback: NonNullable<CaptureOptions['callback']>,
    piece: Uint8Array,
    earlier: Promise<void>,
  ): Promise<void> {
    await earlier
    try {
      await callback(piece)
    } catch (error) {
      this.#options.errors.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** Stores a whole output where the model can read it. */
export async function storeOutput(
  files: FileSystem,
  output: { readonly name: string; readonly bytes: Uint8Array },
  logger: Logger,
): Promise<string | undefined> {
  const path = `${INTERNAL_DIRECTORY}/output/${output.name}`
  try {
    await files.writeFile(path, output.bytes, { ifAbsent: true })
    return path
  } catch (error) {
    logger.warn({ err: error, path }, 'output of a command could not be stored')
    return undefined
  }
}
