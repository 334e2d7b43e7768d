import { ToolInputError } from '@helix-agents/core'
import type {
  CodeContextId,
  CodeInterpreter,
  RunCodeOptions,
  RunCodeResult,
} from '@helix-agents/core/provider'
import { WORKSPACE_ROOT } from '../../config.ts'
import { SPILL_DIRECTORY } from '../container-path.ts'
import type { DriverCode, DriverCodeOptions, DriverCodeOutcome } from '../../driver/port.ts'
import type { LiveSandbox } from '../../lifecycle/live-sandbox.ts'

const LANGUAGES = ['python', 'javascript', 'typescript'] as const
const TIMED_OUT = 124

export interface SandboxCodeOptions {
  /** Time of a run that asks for none, in milliseconds. */
  readonly defaultTimeoutMs: number
  /** How long after its time a run may take to end, in milliseconds. */
  readonly endGraceMs: number
  /** Bytes of each output that a run returns. */
  readonly maxOutputBytes: number
}

/** What interpreters ask of their sandbox. */
export type CodeCalls = Pick<LiveSandbox, 'call' | 'assertEpoch'>

/**
 * The interpreters of the image. A run without a context is a process of its own; a run that is out of
 * time ends with its context.
 */
export class CloudflareSandboxCodeInterpreter implements CodeInterpreter {
  readonly languages: readonly string[] = LANGUAGES
  readonly isStateful = true
  readonly #sandbox: CodeCalls
  readonly #options: SandboxCodeOptions
  readonly #created = new Set<CodeContextId>()

  constructor(sandbox: CodeCalls, options: SandboxCodeOptions) {
    this.#sandbox = sandbox
    this.#options = options
  }

  async runCode(
    language: string,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    options.signal?.throwIfAborted()
    const known = this.#check(language)
    return this.#run(options, (driver, request) => driver.runOnce(known, code, request))
  }

  async createContext(language: string): Promise<CodeContextId> {
    const known = this.#check(language)
    const id = await this.#sandbox.call((driver) =>
      driver.code.create(known, { cwd: WORKSPACE_ROOT }),
    )
    if (!isContextId(id)) throw new TypeError('a driver gave a code context without an id')
    this.#created.add(id)
    return id
  }

  async runInContext(
    context: CodeContextId,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    options.signal?.throwIfAborted()
    return this.#run(options, (driver, request) => driver.run(context, code, request))
  }

  async deleteContext(context: CodeContextId): Promise<void> {
    await this.#sandbox.call((driver) => driver.code.remove(context))
    this.#created.delete(context)
  }

  /** Ends the contexts that this handle made, as far as the container can be reached. Never rejects. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#created].map((id) => this.deleteContext(id)))
    this.#created.clear()
  }

  async #run(options: RunCodeOptions, run: Run): Promise<RunCodeResult> {
    const { signal } = options
    const onOutput = options.onOutput?.bind(options)
    const { defaultTimeoutMs, endGraceMs, maxOutputBytes } = this.#options
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    const request: DriverCodeOptions = {
      cwd: WORKSPACE_ROOT,
      timeoutMs,
      maxOutputBytes,
      spillDirectory: SPILL_DIRECTORY,
      ...(signal !== undefined && { signal }),
      ...(onOutput !== undefined && { onOutput }),
    }
    const outcome = await this.#sandbox.call(({ code }) => run(code, request), {
      timeoutMs: timeoutMs + endGraceMs,
    })
    signal?.throwIfAborted()
    this.#sandbox.assertEpoch(outcome.epoch)
    return toRunCodeResult(outcome, timeoutMs)
  }

  #check(language: string): string {
    if (this.languages.includes(language)) return language
    const shown = JSON.stringify(language.slice(0, 40))
    throw new ToolInputError('invalid-input', `${shown} is not a language of this workspace`, {
      hint: `Languages: ${this.languages.join(', ')}.`,
    })
  }
}

function isContextId(id: string): id is CodeContextId {
  return id !== ''
}

type Run = (code: DriverCode, request: DriverCodeOptions) => Promise<DriverCodeOutcome>

function toRunCodeResult(outcome: DriverCodeOutcome, timeoutMs: number): RunCodeResult {
  const { outputs, exitCode, error } = outcome
  if (outcome.timedOut) {
    const message = `the code ran for more than ${timeoutMs} ms and was ended, with its context`
    return { outputs, exitCode: TIMED_OUT, error: { name: 'TimeoutError', message } }
  }
  return { outputs, exitCode, ...(error !== undefined && { error }) }
}
