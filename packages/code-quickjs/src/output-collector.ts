import { type CodeOutput, decodeBase64, type RunCodeOptions } from '@helix-agents/core/provider'
import type { SessionOutcome, SessionOutput } from './protocol.ts'

/** Collects the outputs of a run, and hands them on one after the other. */
export class OutputCollector {
  readonly outputs: CodeOutput[] = []
  readonly callbackErrors: unknown[] = []
  readonly #onOutput: RunCodeOptions['onOutput']
  #handedOn: Promise<void> = Promise.resolve()

  constructor(options: RunCodeOptions) {
    this.#onOutput = options.onOutput?.bind(options)
  }

  add(outputs: readonly SessionOutput[]): void {
    for (const output of outputs) this.#add(codeOutput(output))
  }

  /** The value of the run, and the end of all callbacks. */
  async finish({ json, text }: SessionOutcome): Promise<void> {
    if (json !== undefined) this.#add({ type: 'result', value: JSON.parse(json) as unknown })
    else if (text !== undefined) this.#add({ type: 'result', value: text })
    await this.#handedOn
  }

  #add(output: CodeOutput): void {
    this.outputs.push(output)
    const onOutput = this.#onOutput
    if (onOutput === undefined) return
    this.#handedOn = this.#handedOn
      .then(() => onOutput(output))
      .catch((error: unknown) => void this.callbackErrors.push(error))
  }
}

function codeOutput(output: SessionOutput): CodeOutput {
  if (output.type === 'display') {
    const { mime, data } = output
    return { type: 'display', mime, data: displayBytes(mime, data) }
  }
  return { type: output.type, data: new TextEncoder().encode(output.text) }
}

/** Pictures come as bytes, or as base64. */
function displayBytes(mime: string, data: string | Uint8Array): Uint8Array {
  if (typeof data !== 'string') return data
  const isText = !mime.startsWith('image/') || mime === 'image/svg+xml'
  return (isText ? undefined : bytesOf(data)) ?? new TextEncoder().encode(data)
}

function bytesOf(encoded: string): Uint8Array | undefined {
  try {
    return decodeBase64(encoded)
  } catch {
    // What code displays is not always what it says.
    return undefined
  }
}
