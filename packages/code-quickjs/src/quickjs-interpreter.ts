import { ToolInputError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  CodeContextId,
  CodeEngineHost,
  EngineCode,
  RunCodeOptions,
  RunCodeResult,
} from '@helix-agents/core/provider'
import { runFileCall } from './files/run-file-call.ts'
import type { QuickJsSettings } from './options.ts'
import { OutputCollector } from './output-collector.ts'
import type { SessionOutcome } from './protocol.ts'
import type { OpenSeat, Seat } from './seat/seat.ts'

const LANGUAGES = ['javascript', 'typescript'] as const
const TIMED_OUT = 124
const MAX_CODE_CHARACTERS = 2 * 1024 * 1024

/** One context: its place, and the end of what runs in it. */
interface Context {
  readonly language: string
  readonly seat: Seat
  last: Promise<unknown>
}

/** JavaScript and TypeScript over the files of one workspace. Runs of one context follow each other. */
export class QuickJsInterpreter implements EngineCode {
  readonly languages: readonly string[] = LANGUAGES
  readonly isStateful = true
  readonly #host: CodeEngineHost
  readonly #settings: QuickJsSettings
  readonly #openSeat: OpenSeat
  readonly #contexts = new Map<string, Context>()
  readonly #seats = new Set<Seat>()
  #isClosed = false

  constructor(host: CodeEngineHost, settings: QuickJsSettings, openSeat: OpenSeat) {
    this.#host = host
    this.#settings = settings
    this.#openSeat = openSeat
  }

  async runCode(
    language: string,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    this.#check(language, code)
    options.signal?.throwIfAborted()
    const seat = this.#takeSeat()
    try {
      return (await this.#run(seat, { language, code }, options)).result
    } finally {
      this.#release(seat)
    }
  }

  async createContext(language: string): Promise<CodeContextId> {
    this.#check(language, '')
    const { maxContexts } = this.#settings
    if (this.#contexts.size >= maxContexts) {
      throw new ToolInputError('invalid-input', `${maxContexts} contexts are open already`, {
        hint: 'Delete one of them first.',
      })
    }
    const id = newContextId()
    this.#contexts.set(id, { language, seat: this.#takeSeat(), last: Promise.resolve() })
    return id
  }

  async runInContext(
    id: CodeContextId,
    code: string,
    options: RunCodeOptions = {},
  ): Promise<RunCodeResult> {
    const context = this.#find(id)
    const { language } = context
    this.#check(language, code)
    options.signal?.throwIfAborted()
    const turn = context.last.then(() => this.#runNext(id, code, options))
    context.last = turn.catch(() => undefined)
    return turn
  }

  async deleteContext(id: CodeContextId): Promise<void> {
    const { seat } = this.#find(id)
    this.#contexts.delete(id)
    this.#release(seat)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const seat of this.#seats) seat.end()
    this.#seats.clear()
    this.#contexts.clear()
  }

  async #runNext(id: CodeContextId, code: string, options: RunCodeOptions): Promise<RunCodeResult> {
    const { seat, language } = this.#find(id)
    options.signal?.throwIfAborted()
    let isLost = true
    try {
      const { result, ended } = await this.#run(seat, { language, code }, options)
      isLost = ended !== undefined
      return result
    } finally {
      if (isLost) {
        this.#contexts.delete(id)
        this.#release(seat)
      }
    }
  }

  async #run(
    seat: Seat,
    source: { readonly language: string; readonly code: string },
    options: RunCodeOptions,
  ): Promise<{ readonly result: RunCodeResult; readonly ended: SessionOutcome['ended'] }> {
    const timeoutMs = options.timeoutMs ?? this.#settings.defaultTimeoutMs
    const collector = new OutputCollector(options)
    const outcome = await seat.run(
      { ...source, timeoutMs },
      {
        callFile: (call) => runFileCall(this.#host.files, call),
        onOutputs: (outputs) => collector.add(outputs),
        signal: options.signal,
      },
    )
    await collector.finish(outcome)
    for (const error of collector.callbackErrors) {
      this.#host.logger.warn({ error }, 'a callback for the output of code failed')
    }
    options.signal?.throwIfAborted()
    if (outcome.ended === 'aborted') throw closed()
    return { result: resultOf(collector, outcome, timeoutMs), ended: outcome.ended }
  }

  #check(language: string, code: string): void {
    if (this.#isClosed) throw closed()
    if (!this.languages.includes(language)) {
      const shown = JSON.stringify(language.slice(0, 40))
      throw new ToolInputError('invalid-input', `${shown} is not a language of this workspace`, {
        hint: `Languages: ${this.languages.join(', ')}.`,
      })
    }
    if (code.length <= MAX_CODE_CHARACTERS) return
    throw new ToolInputError(
      'invalid-input',
      `the code has ${code.length} characters, and ${MAX_CODE_CHARACTERS} are the most`,
      { hint: 'Put data into files and read them with fs.readFile.' },
    )
  }

  #find(id: string): Context {
    if (this.#isClosed) throw closed()
    const context = this.#contexts.get(id)
    if (context !== undefined) return context
    throw new ToolInputError('invalid-input', 'there is no code context of this id any more', {
      hint: 'Open another one with create_code_context.',
    })
  }

  #takeSeat(): Seat {
    const seat = this.#openSeat()
    this.#seats.add(seat)
    return seat
  }

  #release(seat: Seat): void {
    seat.end()
    this.#seats.delete(seat)
  }
}

function resultOf(
  { outputs }: OutputCollector,
  outcome: SessionOutcome,
  timeoutMs: number,
): RunCodeResult {
  if (outcome.ended === 'timeout') {
    const message = `the code ran for more than ${timeoutMs} ms and was ended, with its context`
    return { outputs, exitCode: TIMED_OUT, error: { name: 'TimeoutError', message } }
  }
  const { error } = outcome
  return error === undefined ? { outputs, exitCode: 0 } : { outputs, exitCode: 1, error }
}

function newContextId(): CodeContextId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ids are made here
  return `qjs-${crypto.randomUUID()}` as CodeContextId
}

function closed(): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', 'the workspace is closed')
}
