import { FileSystemError } from '@helix-agents/core'
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
}

/** 128 + SIGXFSZ: a limit of the output was reached. */
const OUTPUT_TOO_LARGE = 153
const FAILED = 1

/** Where a script shares the thread with timers, its time and an abort are seen after so many calls. */
const CALLS_OF_A_TURN = 4000

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
  #turn: Promise<void> | undefined
  #hasRejectedChanges = false
  #failure: unknown

  constructor(options: RunHostOptions) {
    this.#options = options
    this.signal = AbortSignal.any([options.signal, this.#ended.signal])
    this.files = this.#guard(options.files)
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

  /** Calls that come during the turn wait for its end too: a thread does not wait for each answer. */
  async #pace(): Promise<void> {
    this.#calls += 1
    if (this.#calls % CALLS_OF_A_TURN === 0) this.#turn = nextTurn()
    await this.#turn
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
