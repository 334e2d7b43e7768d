import {
  type CodeContextId,
  type CodeInterpreter,
  type CodeOutput,
  type RunCodeOptions,
  type RunCodeResult,
  ToolInputError,
} from '@helix-agents/core'
import { WORKSPACE_ROOT } from './config.ts'
import type { DriverCodeOutcome, DriverCodeOutput, SandboxDriver } from './driver/port.ts'
import type { LiveSandbox } from './live-sandbox.ts'

const LANGUAGES = ['python', 'javascript', 'typescript'] as const
const TIMED_OUT = 124
const FAILED = 1

export interface SandboxCodeOptions {
  /** Time of a run that asks for none, in milliseconds. */
  readonly defaultTimeoutMs: number
  /** How long after its time a run may take to end, in milliseconds. */
  readonly endGraceMs: number
}

/**
 * The interpreters of the image. A run without a context gets one of its own, which is removed
 * afterwards; a run that is out of time ends with its context.
 */
export class CloudflareSandboxCodeInterpreter implements CodeInterpreter {
  readonly languages: readonly string[] = LANGUAGES
  readonly isStateful = true
  readonly #sandbox: LiveSandbox
  readonly #options: SandboxCodeOptions

  constructor(sandbox: LiveSandbox, options: SandboxCodeOptions) {
    this.#sandbox = sandbox
    this.#options = options
  }

  async runCode(
    language: string,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    options.signal?.throwIfAborted()
    const context = await this.createContext(language)
    try {
      return await this.runInContext(context, code, options)
    } finally {
      await this.#forget(context)
    }
  }

  async createContext(language: string): Promise<CodeContextId> {
    const known = this.#check(language)
    const id = await this.#sandbox.call((driver) =>
      driver.code.create(known, { cwd: WORKSPACE_ROOT }),
    )
    if (isContextId(id)) return id
    throw new TypeError('a driver gave a code context without an id')
  }

  async runInContext(
    context: CodeContextId,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    const { signal } = options
    signal?.throwIfAborted()
    const timeoutMs = options.timeoutMs ?? this.#options.defaultTimeoutMs
    const onOutput = forwardTo(options)
    const outcome = await this.#sandbox.call(
      (driver) =>
        driver.code.run(context, code, {
          timeoutMs,
          ...(signal !== undefined && { signal }),
          ...(onOutput !== undefined && { onOutput }),
        }),
      { timeoutMs: timeoutMs + this.#options.endGraceMs },
    )
    signal?.throwIfAborted()
    return toRunCodeResult(outcome, timeoutMs)
  }

  async deleteContext(context: CodeContextId): Promise<void> {
    await this.#sandbox.call((driver) => driver.code.remove(context))
  }

  /** It ends with the container at the latest; the run is over either way. */
  async #forget(context: CodeContextId): Promise<void> {
    const remove = (driver: SandboxDriver): Promise<void> => driver.code.remove(context)
    const [outcome] = await Promise.allSettled([this.#sandbox.call(remove)])
    if (outcome.status === 'fulfilled' || isGone(outcome.reason)) return
    this.#sandbox.logger.warn({ err: outcome.reason }, 'a code context could not be removed')
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

/** Gone already: by a timeout, or with its container. */
function isGone(error: unknown): boolean {
  return ToolInputError.isInstance(error)
}

type OnOutput = (output: DriverCodeOutput) => Promise<void>

function forwardTo(options: RunCodeOptions): OnOutput | undefined {
  if (options.onOutput === undefined) return undefined
  return async (output) => options.onOutput?.(toCodeOutput(output))
}

function toRunCodeResult(outcome: DriverCodeOutcome, timeoutMs: number): RunCodeResult {
  const outputs = outcome.outputs.map(toCodeOutput)
  if (outcome.timedOut) {
    const message = `the code ran for more than ${timeoutMs} ms; its context is gone`
    return { outputs, exitCode: TIMED_OUT, error: { name: 'TimeoutError', message } }
  }
  const { error } = outcome
  return error === undefined ? { outputs, exitCode: 0 } : { outputs, exitCode: FAILED, error }
}

function toCodeOutput(output: DriverCodeOutput): CodeOutput {
  if (!('text' in output)) return output
  return { type: output.type, data: new TextEncoder().encode(output.text) }
}
