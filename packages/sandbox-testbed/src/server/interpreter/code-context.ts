import { randomUUID } from 'node:crypto'
import type { ChildGroups } from '../child-groups.ts'
import { type Variables, WORKSPACE } from '../environment.ts'
import { ServiceError } from '../service-error.ts'
import { Turns } from '../sessions/turns.ts'
import { InterpreterChild, type InterpreterEvent, type Language } from './interpreter-child.ts'

export interface ContextRequest {
  readonly language?: string
  readonly cwd?: string
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

/** Takes what a run says, in order; the run waits for it. */
export type EventTaker = (event: InterpreterEvent) => void | Promise<void>

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: 'python',
  python3: 'python',
  javascript: 'javascript',
  js: 'javascript',
  node: 'javascript',
  typescript: 'typescript',
  ts: 'typescript',
}

/** @throws {ServiceError} `VALIDATION_FAILED` for a language that there is no interpreter for. */
export function languageOf(name = 'python'): Language {
  const language = LANGUAGES[name.toLowerCase()]
  if (language !== undefined) return language
  throw new ServiceError('VALIDATION_FAILED', `unsupported language ${name}`, { language: name })
}

/** What runs of code share: one interpreter, and all that it remembers. */
export class CodeContext {
  readonly id = randomUUID()
  readonly language: Language
  readonly #cwd: string
  readonly #timeoutMs: number | undefined
  readonly #child: InterpreterChild
  readonly #turns = new Turns()
  readonly #createdAt = new Date()
  #lastUsed = this.#createdAt

  private constructor(language: Language, request: ContextRequest, child: InterpreterChild) {
    this.language = language
    this.#cwd = request.cwd ?? WORKSPACE
    this.#timeoutMs = request.timeout
    this.#child = child
  }

  static async create(request: ContextRequest, groups: ChildGroups): Promise<CodeContext> {
    const language = languageOf(request.language)
    const settings = { language, cwd: request.cwd ?? WORKSPACE, env: request.envVars }
    const child = await InterpreterChild.start(settings, groups)
    return new CodeContext(language, request, child)
  }

  /**
   * Runs code after the runs before it.
   * @returns Whether the interpreter is still there.
   */
  async run(code: string, take: EventTaker, timeoutMs = this.#timeoutMs): Promise<boolean> {
    const endTurn = await this.#turns.take()
    let timedOut = false
    const stop = (): void => {
      timedOut = true
      this.#child.kill()
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs)
    this.#lastUsed = new Date()
    try {
      this.#child.request(code, this.language)
      const isThere = await this.#forward(take)
      if (timedOut) await take(timeoutEvent(timeoutMs))
      else if (!isThere) await take(goneEvent(this.id))
      return isThere
    } finally {
      clearTimeout(timer)
      endTurn()
    }
  }

  kill(): void {
    this.#child.kill()
  }

  view(): ContextView {
    const { id, language } = this
    return { id, language, cwd: this.#cwd, createdAt: this.#createdAt, lastUsed: this.#lastUsed }
  }

  /** Reads to the end of the run also when the taker fails: the next run starts behind it. */
  async #forward(take: EventTaker): Promise<boolean> {
    const failures: unknown[] = []
    let event: InterpreterEvent | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      event = await this.#child.next()
      if (event === undefined || failures.length > 0) continue
      // oxlint-disable-next-line no-await-in-loop -- the taker sets the pace
      await Promise.resolve(event)
        .then(take)
        .catch((error: unknown) => failures.push(error))
    } while (event !== undefined && event.type !== 'end')
    if (failures.length > 0) throw failures[0]
    return event !== undefined
  }
}

function timeoutEvent(timeoutMs: number | undefined): InterpreterEvent {
  const message = `execution timed out after ${timeoutMs}ms`
  return { type: 'error', name: 'TimeoutError', message, traceback: [message] }
}

function goneEvent(contextId: string): InterpreterEvent {
  const message = `the interpreter of context ${contextId} ended`
  return { type: 'error', name: 'ExecutionError', message, traceback: [message] }
}
