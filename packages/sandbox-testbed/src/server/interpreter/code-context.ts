import { randomUUID } from 'node:crypto'
import { type Variables, WORKSPACE } from '../environment.ts'
import { ServiceError } from '../service-error.ts'
import { Turns } from '../sessions/turns.ts'
import type { Executor, ExecutorError, ExecutorReply, Language } from './executor.ts'
import type { ExecutorPool } from './executor-pool.ts'

export interface ContextRequest {
  readonly language?: string
  /** Shown, and otherwise ignored: the real server ignores it too. */
  readonly cwd?: string
  /** Ignored, as by the real server. */
  readonly envVars?: Variables
  /** Milliseconds for each run. */
  readonly timeout?: number
}

/** A context as the protocol shows it. */
export interface ContextView {
  readonly id: string
  readonly language: string
  readonly cwd: string
  readonly createdAt: Date
  readonly lastUsed: Date
}

/** What a run says, all of it when it is over. */
export type InterpreterEvent =
  | { readonly type: 'stderr' | 'stdout'; readonly text: string }
  | ({ readonly type: 'result' } & Readonly<Record<string, unknown>>)
  | ({ readonly type: 'error' } & ExecutorError)
  | { readonly type: 'end'; readonly executionCount: number }

const LANGUAGES: ReadonlyMap<string, Language> = new Map(
  Object.entries<Language>({
    python: 'python',
    python3: 'python',
    javascript: 'javascript',
    js: 'javascript',
    node: 'javascript',
    typescript: 'typescript',
    ts: 'typescript',
  }),
)

/** What the real server gives a run that asks for no time. */
const DEFAULT_TIMEOUT_MS = 120_000

/** @throws {ServiceError} `VALIDATION_FAILED` for a language that there is no interpreter for. */
export function languageOf(name = 'python'): Language {
  const language = LANGUAGES.get(name.toLowerCase())
  if (language !== undefined) return language
  throw new ServiceError('VALIDATION_FAILED', `unsupported language ${name}`, { language: name })
}

/** What runs of code share: one executor of the pool, and all that it remembers. */
export class CodeContext {
  readonly id = randomUUID()
  readonly language: Language
  readonly #cwd: string
  readonly #timeoutMs: number
  readonly #executor: Executor
  readonly #turns = new Turns()
  readonly #createdAt = new Date()
  #lastUsed = this.#createdAt

  private constructor(language: Language, request: ContextRequest, executor: Executor) {
    this.language = language
    this.#cwd = request.cwd ?? WORKSPACE
    this.#timeoutMs = request.timeout ?? DEFAULT_TIMEOUT_MS
    this.#executor = executor
  }

  static async create(request: ContextRequest, pool: ExecutorPool): Promise<CodeContext> {
    const language = languageOf(request.language)
    return new CodeContext(language, request, await pool.take(language))
  }

  /**
   * Runs code after the runs before it.
   * @param timeoutMs - Ends the waiting, never the code.
   */
  async run(code: string, timeoutMs = this.#timeoutMs): Promise<readonly InterpreterEvent[]> {
    const endTurn = await this.#turns.take()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    this.#lastUsed = new Date()
    try {
      const reply = await Promise.race([this.#executor.run(code, this.language), promise])
      return reply === undefined ? [timeoutEvent(timeoutMs)] : eventsOf(reply)
    } finally {
      clearTimeout(timer)
      endTurn()
    }
  }

  end(): void {
    this.#executor.end()
  }

  view(): ContextView {
    const { id, language } = this
    return { id, language, cwd: this.#cwd, createdAt: this.#createdAt, lastUsed: this.#lastUsed }
  }
}

function eventsOf({ stdout, stderr, outputs, error, count }: ExecutorReply): InterpreterEvent[] {
  return [
    ...(stdout === '' ? [] : [{ type: 'stdout' as const, text: stdout }]),
    ...(stderr === '' ? [] : [{ type: 'stderr' as const, text: stderr }]),
    ...outputs.map((formats) => ({ ...formats, type: 'result' as const })),
    ...(error === null ? [] : [{ type: 'error' as const, ...error }]),
    { type: 'end', executionCount: count },
  ]
}

function timeoutEvent(timeoutMs: number): InterpreterEvent {
  const message = `execution timed out after ${timeoutMs}ms`
  return { type: 'error', name: 'TimeoutError', message, traceback: [message] }
}
