import { type CodeOutput, HeadTail, type RunCodeOptions } from '@helix-agents/core/provider'

type StreamName = 'stdout' | 'stderr'

/** The outputs of one run: in order while they are few, of more head and tail of each stream. */
export class RunOutputs {
  readonly callbackErrors: unknown[] = []
  readonly #outputs: CodeOutput[] = []
  readonly #streams: Readonly<Record<StreamName, HeadTail>>
  readonly #limit: number
  readonly #onOutput: RunCodeOptions['onOutput']
  #handedOn: Promise<void> = Promise.resolve()

  constructor(limitBytes: number, options: RunCodeOptions) {
    this.#limit = limitBytes
    this.#streams = { stdout: new HeadTail(limitBytes), stderr: new HeadTail(limitBytes) }
    this.#onOutput = options.onOutput?.bind(options)
  }

  print(type: StreamName, data: Uint8Array): void {
    const stream = this.#streams[type]
    stream.add(data)
    if (stream.totalBytes <= this.#limit) this.add({ type, data: Uint8Array.from(data) })
  }

  add(output: CodeOutput): void {
    this.#outputs.push(output)
    const onOutput = this.#onOutput
    if (onOutput === undefined) return
    this.#handedOn = this.#handedOn
      .then(() => onOutput(output))
      .catch((error: unknown) => void this.callbackErrors.push(error))
  }

  /** All of them, when the callbacks have ended. */
  async finish(): Promise<readonly CodeOutput[]> {
    await this.#handedOn
    const cut = (['stdout', 'stderr'] as const).filter((type) => !this.#streams[type].isWhole)
    if (cut.length === 0) return this.#outputs
    const whole = this.#outputs.filter(({ type }) => !cut.some((name) => name === type))
    return [...cut.flatMap((type) => this.#headAndTail(type)), ...whole]
  }

  #headAndTail(type: StreamName): readonly CodeOutput[] {
    const { bytes, cut } = this.#streams[type].result()
    if (cut === undefined) return [{ type, data: bytes }]
    const notice = `\n[${cut.totalBytes - bytes.length} bytes are left out]\n`
    const parts = [
      bytes.subarray(0, cut.headBytes),
      Buffer.from(notice),
      bytes.subarray(cut.headBytes),
    ]
    return parts.map((data) => ({ type, data: Uint8Array.from(data) }))
  }
}
