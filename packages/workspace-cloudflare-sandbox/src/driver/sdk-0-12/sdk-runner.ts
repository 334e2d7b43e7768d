import { decodeBase64, encodeBase64, quoteWord } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import { pieces } from '../remote/pieces.ts'
import type { ScriptCall, ScriptOutput, ScriptRunner } from '../remote/script-runner.ts'
import { bytesStream } from '../remote/streams.ts'
import { coldError, systemError } from '../script/file-reply.ts'
import { joinScript, LOST } from '../script/join-script.ts'
import type { SdkCalls } from './sdk-calls.ts'

/** Time the server gets on top of ours before it ends a script by itself. */
const SERVER_GRACE_MS = 60_000
/**
 * Contents travel as strings of base64, a piece at a time: a frame holds 16 MiB. Not as streams,
 * which the RPC of the SDK stops for ever when two of its answers come at the same reading of the
 * clock, and that of a Worker stands still.
 */
const PIECE_BYTES = 8 * 1024 * 1024

export interface SdkRunnerOptions {
  /** The directory of the workspace. */
  readonly root: string
  /** Whether the transport supports streams. */
  readonly streams: boolean
  /** Bytes of a content that travel in one call. Default 8 MiB. */
  readonly pieceBytes?: number
}

/** Scripts and files by the 0.12 SDK. */
export class SdkRunner implements ScriptRunner {
  readonly #calls: SdkCalls
  readonly #root: string
  readonly #streams: boolean
  readonly #pieceBytes: number

  constructor(calls: SdkCalls, options: SdkRunnerOptions) {
    this.#calls = calls
    this.#root = options.root
    this.#streams = options.streams
    this.#pieceBytes = options.pieceBytes ?? PIECE_BYTES
  }

  run(script: string, call: ScriptCall): Promise<ScriptOutput> {
    const timeout = call.deadlineMs + SERVER_GRACE_MS
    // Without a directory of its own the server starts in one that may be gone.
    return this.#calls.make((stub) => stub.exec(script, { cwd: '/', timeout }), call)
  }

  async store(
    path: string,
    data: Uint8Array | ReadableStream<Uint8Array>,
    call: ScriptCall,
  ): Promise<void> {
    // At once: the script that takes it may be on its way already.
    const isOne = data instanceof Uint8Array && data.length <= this.#pieceBytes
    if (isOne) return this.#put(path, data, call)
    let lengthBytes = 0
    for await (const piece of pieces(data, this.#pieceBytes)) {
      if (lengthBytes === 0) await this.#put(path, piece, call)
      else await this.#add(path, piece, { ...call, lengthBytes })
      lengthBytes += piece.length
    }
  }

  async fetch(path: string, call: ScriptCall): Promise<ReadableStream<Uint8Array>> {
    if (!this.#streams) {
      const readText = (): Promise<{ readonly content: string }> =>
        this.#calls.make((stub) => stub.readFile(path, { encoding: 'base64' }), call)
      return bytesStream(decodeBase64((await this.#recovering(readText)).content))
    }
    const read = (): Promise<{ readonly content: ReadableStream<Uint8Array> }> =>
      this.#calls.make((stub) => stub.readFile(path, { encoding: 'none' }), call)
    return (await this.#recovering(read)).content
  }

  async #put(path: string, data: Uint8Array, call: ScriptCall): Promise<void> {
    const text = encodeBase64(data)
    const whole = { ...call, isRepeatable: true }
    await this.#recovering(() =>
      this.#calls.make((stub) => stub.writeFile(path, text, { encoding: 'base64' }), whole),
    )
  }

  /** @param call With the length of what is there. */
  async #add(
    path: string,
    data: Uint8Array,
    call: ScriptCall & { readonly lengthBytes: number },
  ): Promise<void> {
    // Its own name: an attempt that was abandoned may still write, and not in place of a later part.
    const part = `${path}.${call.lengthBytes}.part`
    await this.#put(part, data, call)
    const join = { path, part, fromBytes: call.lengthBytes, addedBytes: data.length }
    const { exitCode, stderr } = await this.run(joinScript(join), { ...call, isRepeatable: true })
    if (exitCode === LOST) throw coldError()
    if (exitCode !== 0) throw systemError(stderr)
  }

  /** The server's own file calls fail, wherever the file is, while the workspace is missing. */
  async #recovering<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof DriverError) || error.code !== 'directory-missing') throw error
      const root = quoteWord(this.#root)
      const script = `[[ -e ${root} || -L ${root} ]] || mkdir -p -- ${root}`
      await this.run(script, { deadlineMs: 30_000, isRepeatable: true })
      return attempt()
    }
  }
}
