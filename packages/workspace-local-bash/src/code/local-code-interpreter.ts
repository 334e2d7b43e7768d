import { type Clock, type Logger, ToolInputError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  CodeContextId,
  CodeInterpreter,
  RunCodeOptions,
  RunCodeResult,
} from '@helix-agents/core/provider'
import { Interpreter, type InterpreterRun, type StartChannelProcess } from './interpreter.ts'
import type { Interpreters } from './languages.ts'

const MAX_CONTEXTS = 16
const MAX_CODE_CHARACTERS = 8 * 1024 * 1024

export interface LocalCodeOptions {
  readonly interpreters: Interpreters
  readonly start: StartChannelProcess
  /** Runs a run when it is its turn among the commands of all workspaces. */
  readonly inTurn: <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>
  readonly defaultTimeoutMs: number
  readonly maxOutputBytes: number
  readonly killGraceMs: number
  readonly clock: Clock
  readonly logger: Logger
}

interface Context {
  readonly interpreter: Interpreter
  last: Promise<unknown>
}

/**
 * The interpreters of the machine, in the containment of commands. A context is a process that stays; a
 * run without one has a process of its own, and leaves nothing running.
 */
export class LocalCodeInterpreter implements CodeInterpreter {
  readonly languages: readonly string[]
  readonly isStateful = true
  readonly #options: LocalCodeOptions
  readonly #contexts = new Map<string, Context>()
  readonly #running = new Set<Interpreter>()
  readonly #closing = new AbortController()
  #made = 0

  constructor(options: LocalCodeOptions) {
    this.#options = options
    this.languages = [...options.interpreters.keys()]
  }

  async runCode(
    language: string,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    const words = this.#wordsOf(language, code)
    options.signal?.throwIfAborted()
    return this.#inTurn(options, async (signal) => {
      const interpreter = new Interpreter()
      this.#running.add(interpreter)
      try {
        await interpreter.start(this.#options.start, words)
        return (await this.#run(interpreter, code, { ...options, signal })).result
      } finally {
        await interpreter.end(this.#options.killGraceMs)
        this.#running.delete(interpreter)
      }
    })
  }

  async createContext(language: string): Promise<CodeContextId> {
    const words = this.#wordsOf(language, '')
    if (this.#contexts.size >= MAX_CONTEXTS) {
      throw new ToolInputError('invalid-input', `${MAX_CONTEXTS} contexts are open already`, {
        hint: 'Delete one of them first.',
      })
    }
    const interpreter = new Interpreter()
    this.#made += 1
    const id = contextId(`c${this.#made}`)
    const started = interpreter.start(this.#options.start, words)
    this.#contexts.set(id, { interpreter, last: started.catch(() => undefined) })
    try {
      await started
      return id
    } catch (error) {
      this.#contexts.delete(id)
      throw error
    }
  }

  async runInContext(
    id: CodeContextId,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    const context = this.#find(id)
    checkCode(code)
    options.signal?.throwIfAborted()
    const turn = context.last.then(() => this.#runNext(id, code, options))
    context.last = turn.catch(() => undefined)
    return turn
  }

  async deleteContext(id: CodeContextId): Promise<void> {
    const { interpreter } = this.#find(id)
    this.#contexts.delete(id)
    await interpreter.end(this.#options.killGraceMs)
  }

  /** Ends every process. Afterwards nothing can be run. */
  async close(): Promise<void> {
    this.#closing.abort(closed())
    const contexts = [...this.#contexts.values()].map(({ interpreter }) => interpreter)
    this.#contexts.clear()
    await Promise.all([...contexts, ...this.#running].map((one) => one.end(0)))
  }

  async #runNext(id: CodeContextId, code: string, options: RunCodeOptions): Promise<RunCodeResult> {
    const { interpreter } = this.#find(id)
    return this.#inTurn(options, async (signal) => {
      let isLost = true
      try {
        const run = await this.#run(interpreter, code, { ...options, signal })
        isLost = run.isLost
        return run.result
      } finally {
        if (isLost) {
          this.#contexts.delete(id)
          await interpreter.end(0)
        }
      }
    })
  }

  async #inTurn<T>(
    { signal }: RunCodeOptions,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const closing = this.#closing.signal
    const both = signal === undefined ? closing : AbortSignal.any([closing, signal])
    return this.#options.inTurn(() => run(both), both)
  }

  async #run(
    interpreter: Interpreter,
    code: string,
    options: RunCodeOptions,
  ): Promise<{ readonly result: RunCodeResult; readonly isLost: boolean }> {
    const { clock, defaultTimeoutMs, killGraceMs, logger, maxOutputBytes } = this.#options
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    const limits = { clock, killGraceMs, maxOutputBytes, timeoutMs }
    const run = await interpreter.run(code, options, limits)
    for (const error of run.callbackErrors) {
      logger.warn({ error }, 'a callback for the output of code failed')
    }
    if (run.ended === 'aborted') options.signal?.throwIfAborted()
    return { result: resultOf(run, timeoutMs), isLost: run.ended !== undefined }
  }

  #wordsOf(language: string, code: string): readonly string[] {
    if (this.#closing.signal.aborted) throw closed()
    checkCode(code)
    const words = this.#options.interpreters.get(language)
    if (words !== undefined) return words
    const shown = JSON.stringify(language.slice(0, 40))
    throw new ToolInputError('invalid-input', `${shown} is not a language of this workspace`, {
      hint: `Languages: ${this.languages.join(', ')}.`,
    })
  }

  #find(id: string): Context {
    if (this.#closing.signal.aborted) throw closed()
    const context = this.#contexts.get(id)
    if (context !== undefined) return context
    throw new ToolInputError('invalid-input', 'there is no code context of this id any more', {
      hint: 'Open another one with create_code_context.',
    })
  }
}

function checkCode(code: string): void {
  if (code.includes('\0')) throw new ToolInputError('invalid-input', 'the code holds a NUL')
  if (code.length <= MAX_CODE_CHARACTERS) return
  throw new ToolInputError(
    'invalid-input',
    `the code has more than ${MAX_CODE_CHARACTERS} characters`,
    {
      hint: 'Put data into files and read them from the code.',
    },
  )
}

function resultOf(run: InterpreterRun, timeoutMs: number): RunCodeResult {
  const { outputs, exitCode, error, ended } = run
  if (ended === 'timeout') {
    const message = `the code ran for more than ${timeoutMs} ms and was ended, with its context`
    return { outputs, exitCode, error: { name: 'TimeoutError', message } }
  }
  if (error !== undefined) return { outputs, exitCode, error }
  if (ended !== 'exited' || exitCode === 0) return { outputs, exitCode }
  const message = `the interpreter ended with exit code ${exitCode}, and its context is gone`
  return { outputs, exitCode, error: { name: 'InterpreterExit', message } }
}

function contextId(id: string): CodeContextId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ids are made here
  return id as CodeContextId
}

function closed(): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', 'the workspace is closed')
}
