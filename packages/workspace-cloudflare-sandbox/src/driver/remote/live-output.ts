import { decodeBase64 } from '@helix-agents/core/provider'
import type { ExecOptions, ExecOutput } from '../port.ts'
import { liveScript, pieceScript } from '../script/live-script.ts'
import { parseReply } from '../script/reply.ts'
import type { ContainerLink } from './container-link.ts'

type Callbacks = Pick<ExecOptions, 'onStdout' | 'onStderr'> & {
  /** Of descriptor 3. The pieces of one poll come after what was printed before them. */
  readonly onChannel?: (chunk: Uint8Array) => Promise<void>
  /** After all pieces of one poll. */
  readonly onPoll?: (isOver: boolean) => Promise<void>
}

/** What a command has written. */
interface Outputs {
  readonly stdout: ExecOutput
  readonly stderr: ExecOutput
  readonly channel?: ExecOutput
}

const POLL = { deadlineMs: 30_000, isRepeatable: true }

/**
 * Brings the outputs of a running command to its caller while it runs: polls the files that
 * hold them, from where the caller has read to. The caller is waited for, and the command is
 * paused when it gets too far ahead.
 */
export class LiveOutput {
  readonly #link: ContainerLink
  readonly #slot: string
  readonly #callbacks: Callbacks
  #stdoutOffset = 0
  #stderrOffset = 0
  #channelOffset = 0
  readonly #over = Promise.withResolvers<undefined>()
  #isOver = false
  #untilMs = Infinity

  constructor(link: ContainerLink, slot: string, callbacks: Callbacks) {
    this.#link = link
    this.#slot = slot
    this.#callbacks = callbacks
  }

  /** Polls until the command is over. */
  async follow(): Promise<void> {
    while (!this.#isOver) {
      const nonce = this.#link.createNonce()
      const script = liveScript(this.#link.settings, {
        nonce,
        slot: this.#slot,
        stdoutOffset: this.#stdoutOffset,
        stderrOffset: this.#stderrOffset,
        ...(this.#callbacks.onChannel !== undefined && { channelOffset: this.#channelOffset }),
      })
      const polled = await Promise.race([this.#link.runner.run(script, POLL), this.#over.promise])
      // The end of the command brings the rest.
      if (polled === undefined) return
      const { payload } = parseReply(polled.stdout, nonce)
      const [stdout, stderr, channel] = payload.split('\n').map((part) => decodeBase64(part))
      await this.#deliver(stdout, stderr)
      await this.#deliverChannel(channel)
      await this.#callbacks.onPoll?.(false)
    }
  }

  /** No further poll is needed. */
  end(): void {
    this.#isOver = true
    this.#over.resolve(undefined)
  }

  /**
   * Delivers what no poll has seen.
   * @param untilMs No piece is started after it.
   */
  async finish({ stdout, stderr, channel }: Outputs, untilMs: number): Promise<void> {
    this.#untilMs = untilMs
    await this.#finishOne(stdout, this.#stdoutOffset, (bytes) => this.#deliver(bytes, NOTHING))
    await this.#finishOne(stderr, this.#stderrOffset, (bytes) => this.#deliver(NOTHING, bytes))
    if (channel === undefined) return
    await this.#finishOne(channel, this.#channelOffset, (bytes) => this.#deliverChannel(bytes))
    await this.#callbacks.onPoll?.(true)
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
      const { payload } = parseReply((await this.#link.runner.run(script, POLL)).stdout, nonce)
      const bytes = decodeBase64(payload)
      if (bytes.length === 0) return
      at += bytes.length
      await deliver(bytes)
    }
  }

  async #deliverChannel(channel = NOTHING): Promise<void> {
    this.#channelOffset += channel.length
    if (channel.length > 0) await this.#callbacks.onChannel?.(channel)
  }

  async #deliver(stdout = NOTHING, stderr = NOTHING): Promise<void> {
    this.#stdoutOffset += stdout.length
    this.#stderrOffset += stderr.length
    if (stdout.length > 0) await this.#callbacks.onStdout?.(stdout)
    if (stderr.length > 0) await this.#callbacks.onStderr?.(stderr)
  }
}

const NOTHING: Uint8Array = new Uint8Array()
