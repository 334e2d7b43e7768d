import { type Clock, FileSystemError } from '@helix-agents/core'
import type { CommandBatch, CommandFiles } from '@helix-agents/core/provider'
import type { ShellSettings } from './options.ts'
import type { OutputCapture } from './output-capture.ts'
import {
  type HostCommandCall,
  type HostCommandResult,
  type OutputName,
  type ScriptFiles,
  type ScriptHost,
  SHELL_ROOT,
} from './script/script.ts'

export interface RunHostOptions {
  readonly files: CommandFiles
  /** Stores what the files have gathered. */
  readonly commit?: CommandBatch['commit']
  readonly settings: ShellSettings
  readonly stdout: OutputCapture
  readonly stderr: OutputCapture
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** 128 + SIGXFSZ: a limit of the output was reached. */
const OUTPUT_TOO_LARGE = 153
const FAILED = 1

/** Where a script shares the thread with timers, they run when it has had the thread for this time. */
const TURN_MS = 40
/** Where changes are gathered, a turn ends a transaction, and the clock stands still: then calls count. */
const CALLS_OF_A_TURN = 4096
/** A round of a loop may do so many things that are no calls. */
const CALLS_OF_A_ROUND = 8

/** What one run lets its script reach; nothing after it was ended. */
export class RunHost implements ScriptHost {
  readonly files: ScriptFiles
  readonly signal: AbortSignal
  readonly #options: RunHostOptions
  readonly #ended = new AbortController()
  #reason: 'timeout' | 'output' | undefined
  #isRevoked = false
  #outputBytes = 0
  #calls = 0
  #turnedAt: number
  #turn: Promise<void> | undefined
  #hasRejectedChanges = false
  #failure: unknown

  constructor(options: RunHostOptions) {
    this.#options = options
    this.signal = AbortSignal.any([options.signal, this.#ended.signal])
    this.files = this.#guard(options.files)
    this.#turnedAt = options.clock.now()
  }

  get timedOut(): boolean {
    return this.#reason === 'timeout'
  }

  /** Set when this run ended the script for a reason of its own. */
  get exitCode(): number | undefined {
    return this.#reason === 'output' ? OUTPUT_TOO_LARGE : undefined
  }

  /** Why the files cannot be used any more. */
  get failure(): unknown {
    return this.#failure
  }

  /** Some changes could not be stored; each was reported on stderr. */
  get hasRejectedChanges(): boolean {
    return this.#hasRejectedChanges
  }

  endBy(reason: 'timeout' | 'output'): void {
    if (this.signal.aborted) return
    this.#reason = reason
    this.#ended.abort(new Error(`ended: ${reason}`))
  }

  /**
   * Stores what the script has changed, however it ended. From now on a script that has not noticed
   * its end reaches nothing.
   */
  async finish(): Promise<void> {
    this.#isRevoked = true
    try {
      await this.#commit()
    } catch (error) {
      this.#failure ??= error
    }
  }

  async write(output: OutputName, piece: Uint8Array): Promise<void> {
    await this.#pace()
    if (this.#isOver()) return
    const { settings } = this.#options
    this.#outputBytes += piece.length
    await this.#options[output].add(piece)
    if (this.#outputBytes <= settings.maxTotalOutputBytes || this.#isOver()) return
    const text = `bash: ended: more than ${settings.maxTotalOutputBytes} bytes of output\n`
    await this.#options.stderr.add(new TextEncoder().encode(text))
    this.endBy('output')
  }

  async runCommand(call: HostCommandCall): Promise<HostCommandResult> {
    const command = this.#options.settings.commands.get(call.name)
    if (command === undefined || this.#isOver()) throw new Error('the command was ended')
    // It may use the same files.
    await this.#use(() => this.#commit())
    try {
      return await command.run({ ...call, signal: this.signal })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { stderr: `${call.name}: ${message}\n`, exitCode: FAILED }
    }
  }

  async #commit(): Promise<void> {
    for (const { path, error } of (await this.#options.commit?.()) ?? []) {
      this.#hasRejectedChanges = true
      const text = `bash: ${SHELL_ROOT}${path}: ${error.message}\n`
      await this.#options.stderr.add(new TextEncoder().encode(text))
    }
  }

  async turn(rounds = 1): Promise<void> {
    await this.#pace(rounds * CALLS_OF_A_ROUND)
    if (this.#isOver()) throw new Error('ended')
  }

  /** Calls that come during the turn wait for its end too: a thread does not wait for each answer. */
  async #pace(calls = 1): Promise<void> {
    this.#calls += calls
    if (this.#isTurn()) {
      this.#calls = 0
      this.#turn = nextTurn().then(() => void (this.#turnedAt = this.#options.clock.now()))
    }
    await this.#turn
  }

  #isTurn(): boolean {
    if (this.#calls >= CALLS_OF_A_TURN) return true
    const { clock, commit } = this.#options
    if (commit !== undefined || clock.now() - this.#turnedAt < TURN_MS) return false
    this.#turnedAt = clock.now()
    return true
  }

  #isOver(): boolean {
    return this.#isRevoked || this.signal.aborted
  }

  #guard(files: CommandFiles): ScriptFiles {
    return {
      readFile: (path) => this.#use(() => files.readFile(path)),
      writeFile: (path, data) => this.#use(() => files.writeFile(path, data)),
      appendFile: (path, data) => this.#use(() => files.appendFile(path, data)),
      ls: (path) => this.#use(() => files.ls(path)),
      stat: (path) => this.#use(() => files.stat(path)),
      mkdir: (path, options) => this.#use(() => files.mkdir(path, options)),
      rm: (path, options) => this.#use(() => files.rm(path, options)),
      copy: (from, to, options) => this.#use(() => files.copy(from, to, options)),
      move: (from, to, options) => this.#use(() => files.move(from, to, options)),
      grep: (pattern, options) => this.#use(() => files.grep(pattern, options)),
      settle: (path) => this.#use(() => this.#commit().then(() => files.stat(path))),
    }
  }

  async #use<T>(act: () => Promise<T>): Promise<T> {
    await this.#pace()
    if (this.#isOver()) throw new Error('the command was ended')
    try {
      return await act()
    } catch (error) {
      // A wrong path is the script's concern; a backend that is gone ends the command.
      if (!FileSystemError.isInstance(error)) {
        this.#failure ??= error
        this.#ended.abort(error)
      }
      throw error
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}
