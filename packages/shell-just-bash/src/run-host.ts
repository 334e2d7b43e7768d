import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import type { ShellSettings } from './options.ts'
import type { OutputCapture } from './output-capture.ts'
import type {
  HostCommandCall,
  HostCommandResult,
  OutputName,
  ScriptFiles,
  ScriptHost,
} from './script/script.ts'

export interface RunHostOptions {
  readonly files: FileSystem
  readonly settings: ShellSettings
  readonly stdout: OutputCapture
  readonly stderr: OutputCapture
  readonly signal: AbortSignal
}

/** 128 + SIGXFSZ: a limit of the output was reached. */
const OUTPUT_TOO_LARGE = 153
const FAILED = 1

/** What one run lets its script reach; nothing after it was ended. */
export class RunHost implements ScriptHost {
  readonly files: ScriptFiles
  readonly signal: AbortSignal
  readonly #options: RunHostOptions
  readonly #ended = new AbortController()
  #reason: 'timeout' | 'output' | undefined
  #isRevoked = false
  #outputBytes = 0
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

  endBy(reason: 'timeout' | 'output'): void {
    if (this.signal.aborted) return
    this.#reason = reason
    this.#ended.abort(new Error(`ended: ${reason}`))
  }

  /** From now on a script that has not noticed its end reaches nothing. */
  revoke(): void {
    this.#isRevoked = true
  }

  async write(output: OutputName, piece: Uint8Array): Promise<void> {
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
    try {
      return await command.run({ ...call, signal: this.signal })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { stderr: `${call.name}: ${message}\n`, exitCode: FAILED }
    }
  }

  #isOver(): boolean {
    return this.#isRevoked || this.signal.aborted
  }

  #guard(files: FileSystem): ScriptFiles {
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
    }
  }

  async #use<T>(act: () => Promise<T>): Promise<T> {
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
