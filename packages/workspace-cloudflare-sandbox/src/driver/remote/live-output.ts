import { decodeBase64 } from '@helix-agents/core'
import type { ExecOptions, ExecOutput } from '../port.ts'
import { liveScript, pieceScript } from '../script/live-script.ts'
import { parseReply } from '../script/reply.ts'
import type { ContainerLink } from './container-link.ts'

type Callbacks = Pick<ExecOptions, 'onStdout' | 'onStderr'>

const LOOK = { deadlineMs: 30_000, isRepeatable: true }

/**
 * Brings the outputs of a running command to its caller while it runs: looks at the files that
 * hold them, from where the caller has read to. The caller is waited for, and the command is
 * paused when it gets too far ahead.
 */
export class LiveOutput {
  readonly #link: ContainerLink
  readonly #slot: string
  readonly #callbacks: Callbacks
  #stdoutOffset = 0
  #stderrOffset = 0
  readonly #over = Promise.withResolvers<undefined>()
  #isOver = false
  #untilMs = Infinity

  constructor(link: ContainerLink, slot: string, callbacks: Callbacks) {
    this.#link = link
    this.#slot = slot
    this.#callbacks = callbacks
  }

  /** Looks until the command is over. */
  async follow(): Promise<void> {
    while (!this.#isOver) {
      const nonce = this.#link.createNonce()
      const script = liveScript(this.#link.settings, {
        nonce,
        slot: this.#slot,
        stdoutOffset: this.#stdoutOffset,
        stderrOffset: this.#stderrOffset,
      })
      const look = await Promise.race([this.#link.runner.run(script, LOOK), this.#over.promise])
      // The end of the command brings the rest.
      if (look === undefined) return
      const { payload } = parseReply(look.stdout, nonce)
      const [stdout = '', stderr = ''] = payload.split('\n')
      await this.#deliver(decodeBase64(stdout), decodeBase64(stderr))
    }
  }

  /** No further look is needed. */
  end(): void {
    this.#isOver = true
    this.#over.resolve(undefined)
  }

  /**
   * Delivers what no look has seen.
   * @param untilMs No piece is started after it.
   */
  async finish(stdout: ExecOutput, stderr: ExecOutput, untilMs: number): Promise<void> {
    this.#untilMs = untilMs
    await this.#finishOne(stdout, this.#stdoutOffset, (bytes) => this.#deliver(bytes, NOTHING))
    await this.#finishOne(stderr, this.#stderrOffset, (bytes) => this.#deliver(NOTHING, bytes))
  }

  async #finishOne(
    output: ExecOutput,
    offset: number,
    deliver: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void> {
    if (output.headBytes === undefined) return deliver(output.bytes.slice(offset))
    const { spillPath } = output
    if (spillPath === undefined) return
    let at = offset
    while (at < output.totalBytes && this.#link.clock.now() < this.#untilMs) {
      const nonce = this.#link.createNonce()
      const script = pieceScript(nonce, spillPath, at)
      const { payload } = parseReply((await this.#link.runner.run(script, LOOK)).stdout, nonce)
      const bytes = decodeBase64(payload)
      if (bytes.length === 0) return
      at += bytes.length
      await deliver(bytes)
    }
  }

  async #deliver(stdout: Uint8Array, stderr: Uint8Array): Promise<void> {
    this.#stdoutOffset += stdout.length
    this.#stderrOffset += stderr.length
    if (stdout.length > 0) await this.#callbacks.onStdout?.(stdout)
    if (stderr.length > 0) await this.#callbacks.onStderr?.(stderr)
  }
}

const NOTHING = new Uint8Array()
