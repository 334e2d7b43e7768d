import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '@helix-agents/core'
import type { CodeOutput, RunCodeOptions } from '@helix-agents/core/provider'
import type { ProcessHold } from '../shell/processes/process-hold.ts'
import type { ProcessEnd, StartedProcess } from '../shell/start-process.ts'
import { type ChannelEvent, type CodeError, ChannelReader } from './channel-reader.ts'
import { MarkedStream } from './marked-stream.ts'
import { RunOutputs } from './run-outputs.ts'

/** How long outputs may come after the interpreter said that the run is over. */
const DRAIN_MS = 500

/** A program that was started with a channel. */
export interface ChannelProcess {
  readonly started: StartedProcess
  readonly hold: ProcessHold
  readonly channel: Duplex
}

/** Starts the process of an interpreter; its outputs go to the sinks. */
export type StartChannelProcess = (
  words: readonly string[],
  sinks: readonly [(piece: Uint8Array) => void, (piece: Uint8Array) => void],
) => Promise<ChannelProcess>

export interface InterpreterLimits {
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly killGraceMs: number
  readonly clock: Clock
}

/** How a run ended. With `ended` its process is gone. */
export interface InterpreterRun {
  readonly outputs: readonly CodeOutput[]
  readonly exitCode: number
  readonly error?: CodeError
  readonly ended?: 'timeout' | 'aborted' | 'exited'
  readonly callbackErrors: readonly unknown[]
}

type Ending = { readonly reason: 'timeout' | 'aborted' } | { readonly end: ProcessEnd }

/** The process of one context. Runs follow each other; a run that is ended takes the process with it. */
export class Interpreter {
  readonly #streams: readonly [MarkedStream, MarkedStream]
  readonly #reader: ChannelReader
  #process: ChannelProcess | undefined
  #outputs = new RunOutputs(0, {})
  #error: CodeError | undefined
  #done = Promise.withResolvers<number>()

  constructor() {
    this.#streams = [
      new MarkedStream((piece) => this.#outputs.print('stdout', piece)),
      new MarkedStream((piece) => this.#outputs.print('stderr', piece)),
    ]
    this.#reader = new ChannelReader((event) => this.#take(event))
  }

  async start(start: StartChannelProcess, words: readonly string[]): Promise<void> {
    const [stdout, stderr] = this.#streams
    const started = await start(words, [(piece) => stdout.add(piece), (piece) => stderr.add(piece)])
    // An interpreter that is gone is known by its end.
    started.channel.on('error', () => undefined)
    started.channel.on('data', (piece: Uint8Array) => this.#reader.add(piece))
    this.#process = started
  }

  async run(
    code: string,
    options: RunCodeOptions,
    limits: InterpreterLimits,
  ): Promise<InterpreterRun> {
    const current = this.#process
    if (current === undefined) throw new TypeError('the interpreter was not started')
    const mark = randomBytes(16).toString('hex')
    this.#outputs = new RunOutputs(limits.maxOutputBytes, options)
    this.#error = undefined
    this.#done = Promise.withResolvers<number>()
    this.#reader.begin(mark)
    for (const stream of this.#streams) stream.begin(mark)
    current.channel.write(`${mark}\0${code}\0`)
    const last = await this.#waitForLast(current, limits, options.signal)
    for (const stream of this.#streams) stream.end()
    return this.#result(last)
  }

  /** Ends the process and all that it started. */
  async end(graceMs: number): Promise<void> {
    const current = this.#process
    this.#process = undefined
    if (current === undefined) return
    current.channel.destroy()
    await current.hold.end(graceMs)
    await Promise.race([current.started.ended, systemClock.sleep(1000)])
    for (const reader of current.started.readers) reader.stop()
  }

  /** The end of a run, once its outputs have come as well. */
  async #waitForLast(
    { started }: ChannelProcess,
    limits: InterpreterLimits,
    signal: AbortSignal | undefined,
  ): Promise<number | Ending> {
    const stop = watch(limits, signal)
    const ended = started.ended.then((end) => ({ end }))
    try {
      const last = await Promise.race([this.#done.promise, stop.reason, ended])
      if (typeof last === 'number') await this.#drain(stop.reason)
      else await this.#endOf(last, limits)
      return last
    } finally {
      stop.cancel()
    }
  }

  /** The marks come behind all that the code printed, unless it closed its outputs. */
  async #drain(stopped: Promise<unknown>): Promise<void> {
    const reached = Promise.all(this.#streams.map((stream) => stream.reached))
    await Promise.race([reached, stopped, systemClock.sleep(DRAIN_MS)])
  }

  async #endOf(last: Ending, { killGraceMs }: InterpreterLimits): Promise<void> {
    const readers = this.#process?.started.readers ?? []
    if ('end' in last) {
      const drained = Promise.all(readers.map((reader) => reader.ended))
      await Promise.race([drained, systemClock.sleep(DRAIN_MS)])
    }
    await this.end('end' in last ? 0 : killGraceMs)
  }

  async #result(last: number | Ending): Promise<InterpreterRun> {
    const outputs = await this.#outputs.finish()
    const common = { outputs, callbackErrors: this.#outputs.callbackErrors }
    const error = this.#error === undefined ? {} : { error: this.#error }
    if (typeof last === 'number') return { ...common, exitCode: last, ...error }
    if ('reason' in last) return { ...common, exitCode: 124, ended: last.reason }
    const { exitCode } = last.end
    return { ...common, exitCode, ...error, ended: 'exited' }
  }

  #take(event: ChannelEvent): void {
    if (event.type === 'output') this.#outputs.add(event.output)
    else if (event.type === 'error') this.#error = event.error
    else this.#done.resolve(event.status)
  }
}

interface Watch {
  readonly reason: Promise<{ readonly reason: 'timeout' | 'aborted' }>
  cancel(): void
}

function watch({ clock, timeoutMs }: InterpreterLimits, signal: AbortSignal | undefined): Watch {
  const { promise, resolve } = Promise.withResolvers<{ readonly reason: 'timeout' | 'aborted' }>()
  const onAbort = (): void => resolve({ reason: 'aborted' })
  const cancel = clock.setTimer(timeoutMs, () => resolve({ reason: 'timeout' }), {
    keepsProcessAlive: true,
  })
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  return {
    reason: promise,
    cancel: () => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
