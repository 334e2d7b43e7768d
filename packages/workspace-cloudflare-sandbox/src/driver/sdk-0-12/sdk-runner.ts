import { decodeBase64, encodeBase64, quoteWord } from '@helix-agents/core'
import { DriverError } from '../driver-error.ts'
import type { ScriptCall, ScriptOutput, ScriptRunner } from '../remote/script-runner.ts'
import { bytesStream } from '../remote/streams.ts'
import type { SdkCalls } from './sdk-calls.ts'
import type { SandboxStub } from './stub.ts'

/** Time the server gets on top of ours before it ends a script by itself. */
const SERVER_GRACE_MS = 60_000
/** Larger contents are streamed: a string of 20 MB breaks the frame of 16 MiB. */
const STRING_BYTES = 2 * 1024 * 1024

/** Scripts and files by the 0.12 SDK. */
export class SdkRunner implements ScriptRunner {
  readonly #calls: SdkCalls
  readonly #root: string
  readonly #streams: boolean

  /** @param options The directory of the workspace, and whether the transport carries streams. */
  constructor(
    calls: SdkCalls,
    { root, streams }: { readonly root: string; readonly streams: boolean },
  ) {
    this.#calls = calls
    this.#root = root
    this.#streams = streams
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
    if (data instanceof Uint8Array || !this.#streams) {
      const bytes = data instanceof Uint8Array ? data : await new Response(data).bytes()
      const isString = !this.#streams || bytes.length <= STRING_BYTES
      const write = (stub: SandboxStub): Promise<unknown> =>
        isString
          ? stub.writeFile(path, encodeBase64(bytes), { encoding: 'base64' })
          : stub.writeFile(path, bytesStream(bytes))
      const whole = { ...call, isRepeatable: true }
      await this.#recovering(() => this.#calls.make(write, whole))
      return
    }
    // A stream can be sent only once.
    const once = { ...call, isRepeatable: false }
    await this.#calls.make((stub) => stub.writeFile(path, data), once)
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
