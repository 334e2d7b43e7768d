import { DriverError } from '../driver-error.ts'
import type { ExecOptions, ExecOutcome, ExecOutput } from '../port.ts'
import { failureOf } from '../script/file-reply.ts'
import { findReply, parseReply, type ScriptReply } from '../script/reply.ts'
import { readRunReport, type RunReport } from '../script/run-reply.ts'
import {
  collectScript,
  type RunNames,
  type RunRequest,
  runScript,
  stopScript,
} from '../script/run-script.ts'
import type { ContainerLink } from './container-link.ts'
import { LiveOutput } from './live-output.ts'
import { runOfAnyLength } from './long-script.ts'
import type { ScriptOutput } from './script-runner.ts'
import type { Slots } from './slots.ts'

/** Time for ending a command and reading its outputs, after its own time is up. */
const FINISH_MS = 30_000
/** How long listeners get the output of a command that had to be ended. */
const LATE_MS = 1000
/** A command without a time limit is abandoned after a day. */
const LONGEST_MS = 24 * 3_600_000
const KILLED = 137

export interface CommandRequest {
  readonly argv: readonly string[]
  readonly options: ExecOptions
  /** What the command writes to descriptor 3, beside its outputs. */
  readonly channel?: {
    readonly maxBytes: number
    /** Awaited for each piece, in order. */
    readonly onPiece?: (chunk: Uint8Array) => Promise<void>
    /** After all pieces, of the outputs too, that came together. */
    readonly onPoll?: (isOver: boolean) => Promise<void>
  }
}

/** Runs one command to its end. */
export async function runCommand(
  link: ContainerLink,
  slots: Slots,
  request: CommandRequest,
): Promise<ExecOutcome & { readonly channel?: ExecOutput }> {
  request.options.signal?.throwIfAborted()
  const slot = slots.take(isLive(request.options))
  const [nonce, mark] = [link.createNonce(), link.createNonce()]
  const names = { nonce, mark, slot: slot.name, epoch: link.epoch }
  const run = new CommandRun(link, names, request)
  try {
    return await run.finish()
  } finally {
    // After anything but a plain end another process may still write to its files.
    if (run.endedPlainly) slot.giveBack()
  }
}

class CommandRun {
  endedPlainly = false
  readonly #link: ContainerLink
  readonly #names: RunNames
  readonly #options: ExecOptions
  readonly #request: RunRequest
  readonly #channel: CommandRequest['channel']

  constructor(link: ContainerLink, names: RunNames, request: CommandRequest) {
    const { argv, options, channel } = request
    this.#link = link
    this.#names = names
    this.#options = options
    this.#channel = channel
    this.#request = {
      argv,
      cwd: options.cwd,
      env: options.env ?? {},
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      maxOutputBytes: Math.max(0, Math.floor(options.maxOutputBytes)),
      spillDirectory: options.spillDirectory,
      isLive: isLive(options),
      ...(channel !== undefined && { maxChannelBytes: channel.maxBytes }),
    }
  }

  async finish(): Promise<ExecOutcome> {
    const live = this.#request.isLive
      ? new LiveOutput(this.#link, this.#names.slot, this.#callbacks())
      : undefined
    const stopper = new Stopper(() => this.#stop(), this.#options.signal)
    try {
      const ended = this.#run().finally(() => live?.end())
      const followed = this.#follow(live)
      // Both are waited for, so that neither fails unseen; the command's own failure explains more.
      const [run, follow] = await Promise.allSettled([ended, followed])
      if (run.status === 'rejected') throw run.reason
      await stopper.settled
      if (follow.status === 'rejected') throw follow.reason
      const wasEnded = stopper.hasStopped || run.value.timedOut
      const untilMs = wasEnded ? this.#link.clock.now() + LATE_MS : Infinity
      await live?.finish(run.value, untilMs)
      this.endedPlainly = live === undefined && !wasEnded
      return { ...run.value, aborted: stopper.hasStopped && !run.value.timedOut }
    } finally {
      stopper.leave()
    }
  }

  #callbacks(): ConstructorParameters<typeof LiveOutput>[2] {
    const options = this.#options
    const [onStdout, onStderr] = [options.onStdout?.bind(options), options.onStderr?.bind(options)]
    const { onPiece, onPoll } = this.#channel ?? {}
    return {
      ...(onStdout !== undefined && { onStdout }),
      ...(onStderr !== undefined && { onStderr }),
      ...(onPiece !== undefined && { onChannel: onPiece }),
      ...(onPoll !== undefined && { onPoll }),
    }
  }

  async #run(): Promise<RunReport> {
    const { settings } = this.#link
    const script = runScript(settings, this.#names, this.#request)
    const output = await this.#send(script)
    const reply = findReply(output.stdout, this.#names.nonce) ?? (await this.#collect(output))
    if (reply.status === 'ended') return this.#report(reply)
    if (reply.status !== 'scratch') throw failureOf(reply, output.stderr)
    const detail = 'the container has no room for the outputs of a command'
    throw new DriverError('storage-full', detail, { admitted: 'no' })
  }

  async #send(script: string): Promise<ScriptOutput> {
    const call = { deadlineMs: this.#budgetMs(), isRepeatable: false }
    return runOfAnyLength(this.#link, this.#names.slot, script, call)
  }

  #budgetMs(): number {
    return Math.min(this.#request.timeoutMs ?? LONGEST_MS, LONGEST_MS) + FINISH_MS
  }

  /** The script itself was ended: by the command, or for want of memory. */
  async #collect({ exitCode }: ScriptOutput): Promise<ScriptReply> {
    const names = { ...this.#names, nonce: this.#link.createNonce() }
    const request = { ...this.#request, exitCode: exitCode === 0 ? KILLED : exitCode }
    const script = collectScript(this.#link.settings, names, request)
    const call = { deadlineMs: FINISH_MS, isRepeatable: true }
    const reply = parseReply((await this.#link.runner.run(script, call)).stdout, names.nonce)
    if (reply.status === 'ended') return reply
    throw new DriverError('interrupted', 'the command was lost before it could report', {
      admitted: 'unknown',
    })
  }

  #report(reply: ScriptReply): RunReport {
    const base = `${this.#request.spillDirectory}/${this.#names.slot}-${this.#names.mark}`
    return readRunReport(reply, { stdout: `${base}.stdout`, stderr: `${base}.stderr` })
  }

  async #stop(): Promise<void> {
    const { settings, runner } = this.#link
    const names = { ...this.#names, nonce: this.#link.createNonce() }
    const call = { deadlineMs: FINISH_MS, isRepeatable: true }
    await runner.run(stopScript(settings, names), call)
  }

  async #follow(live: LiveOutput | undefined): Promise<void> {
    try {
      await live?.follow()
    } catch (error) {
      // The caller gets no more output: continuing gains nothing.
      await Promise.allSettled([this.#stop()])
      throw error
    }
  }
}

function isLive(options: ExecOptions): boolean {
  return options.onStdout !== undefined || options.onStderr !== undefined
}

/** Ends a command when its caller does not want it any more. Made before anything is waited for. */
class Stopper {
  hasStopped = false
  settled: Promise<unknown> = Promise.resolve()
  readonly #signal: AbortSignal | undefined
  readonly #onAbort: () => void

  constructor(stop: () => Promise<void>, signal: AbortSignal | undefined) {
    this.#signal = signal
    this.#onAbort = () => {
      this.hasStopped = true
      // When it fails, the command's own call reports why, or ends at its deadline.
      this.settled = Promise.allSettled([stop()])
    }
    signal?.addEventListener('abort', this.#onAbort)
  }

  leave(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
