import { closeSync, constants, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '@helix-agents/core'
import type { BackgroundProcess, ProcessOutput } from '@helix-agents/core/provider'
import { errnoOf } from '../file-system/map-error.ts'
import type { ProcessHold } from './processes/process-hold.ts'
import { SpillFile } from './output/spill-file.ts'
import type { ProcessEnd, StartedProcess } from './start-process.ts'

const PIECE_BYTES = 256 * 1024

export interface BackgroundOptions {
  readonly id: string
  /** What the model sees. */
  readonly title: string
  /** Host directory for the outputs. */
  readonly directory: string
  /** Bytes of each output that are kept; what comes later is read and dropped. */
  readonly maxBytes: number
  readonly clock: Clock
}

/** Where `output` continues to read. */
export interface OutputOffsets {
  readonly stdoutOffset?: number
  readonly stderrOffset?: number
}

/** A command that outlives the call which started it. */
export class BackgroundCommand {
  readonly #options: BackgroundOptions
  readonly #startedAt: Date
  readonly #outputs: readonly [SpillFile, SpillFile]
  #exitCode: number | undefined
  #hold: ProcessHold | undefined
  /** Settles once it is known how it ended, and all of its output is stored. */
  #over: Promise<void> | undefined

  constructor(options: BackgroundOptions) {
    const { directory, id, maxBytes } = options
    this.#options = options
    this.#startedAt = new Date(options.clock.now())
    this.#outputs = [
      new SpillFile(join(directory, `${id}.stdout`), maxBytes),
      new SpillFile(join(directory, `${id}.stderr`), maxBytes),
    ]
  }

  /** Takes the outputs. */
  get sinks(): readonly [(piece: Uint8Array) => void, (piece: Uint8Array) => void] {
    const [stdout, stderr] = this.#outputs
    return [(piece) => stdout.write(piece), (piece) => stderr.write(piece)]
  }

  attach(started: StartedProcess, hold: ProcessHold): void {
    this.#hold = hold
    this.#over = this.#watch(started, hold)
  }

  describe(): BackgroundProcess {
    const isRunning = this.#exitCode === undefined
    return {
      id: this.#options.id,
      command: this.#options.title,
      state: isRunning ? 'running' : 'exited',
      startedAt: this.#startedAt,
      ...(this.#exitCode !== undefined && { exitCode: this.#exitCode }),
    }
  }

  /** The next piece of each output. */
  read(from: OutputOffsets): ProcessOutput {
    const [out, err] = [Math.max(0, from.stdoutOffset ?? 0), Math.max(0, from.stderrOffset ?? 0)]
    const stdout = readPiece(this.#outputs[0].hostPath, out)
    const stderr = readPiece(this.#outputs[1].hostPath, err)
    return {
      stdout,
      stderr,
      nextStdoutOffset: out + stdout.length,
      nextStderrOffset: err + stderr.length,
      process: this.describe(),
    }
  }

  /** Ends it and everything it started; then it is described as ended. */
  async kill(graceMs: number): Promise<void> {
    if (this.#exitCode !== undefined || this.#hold === undefined) return
    await this.#hold.end(graceMs)
    await this.#over
  }

  /** Removes its outputs. */
  forget(): void {
    for (const output of this.#outputs) rmSync(output.hostPath, { force: true })
  }

  async #watch(started: StartedProcess, hold: ProcessHold): Promise<void> {
    const end: ProcessEnd = await started.ended.catch(() => ({ exitCode: 126 }))
    await hold.endLeftovers(Number.POSITIVE_INFINITY)
    await Promise.race([
      Promise.all(started.readers.map((reader) => reader.ended)),
      this.#options.clock.sleep(1000),
    ])
    for (const reader of started.readers) reader.stop()
    if (end.failure !== undefined) this.#outputs[1].write(Buffer.from('it could not be started\n'))
    if (end.complaint !== undefined) this.#outputs[1].write(Buffer.from(end.complaint))
    for (const output of this.#outputs) output.close()
    this.#exitCode = end.exitCode
  }
}

function readPiece(hostPath: string, offset: number): Uint8Array {
  let fd: number
  try {
    fd = openSync(hostPath, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    // Nothing was written so far.
    if (errnoOf(error) === 'ENOENT') return new Uint8Array()
    throw error
  }
  try {
    const piece = new Uint8Array(PIECE_BYTES)
    return piece.slice(0, readSync(fd, piece, 0, piece.length, offset))
  } finally {
    closeSync(fd)
  }
}
