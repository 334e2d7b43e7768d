import type { Clock } from '@helix-agents/core'
import { DriverError } from '../driver-error.ts'
import type { DriverCode, DriverCodeOptions, DriverCodeOutcome, DriverCodeOutput } from '../port.ts'
import type { ContainerLink } from '../remote/container-link.ts'
import { readCodeEvents } from './code-events.ts'
import type { SdkCalls } from './sdk-calls.ts'
import type { CodeContext, SandboxStub } from './stub.ts'

const CREATE_DEADLINE_MS = 90_000
const REMOVE_DEADLINE_MS = 15_000
/** Time to end a run whose own time is up. */
const GRACE_MS = 15_000

type Language = 'python' | 'javascript' | 'typescript'

export interface SdkCodeOptions {
  readonly calls: SdkCalls
  readonly link: ContainerLink
  readonly clock: Clock
  readonly env: Readonly<Record<string, string>>
}

/**
 * Interpreters of the SDK. A run always names its context: without one the SDK takes any
 * context of the language, also somebody else's, and after a restart a dead one. The SDK knows
 * no time limit of a run either: at the deadline the context is removed, and the run with it.
 */
export class SdkCode implements DriverCode {
  readonly #options: SdkCodeOptions
  readonly #contexts = new Map<string, CodeContext>()

  constructor(options: SdkCodeOptions) {
    this.#options = options
  }

  async create(language: string, { cwd }: { readonly cwd: string }): Promise<string> {
    if (!isLanguage(language)) {
      throw new DriverError('language-missing', `${language} cannot be run`, { admitted: 'no' })
    }
    const { calls, env } = this.#options
    const request = { language, cwd, envVars: { ...env } }
    const context = await calls.make((stub) => stub.createCodeContext(request), {
      deadlineMs: CREATE_DEADLINE_MS,
      isRepeatable: false,
    })
    // A copy: what came from another object may hold on to it.
    const { id, createdAt, lastUsed } = context
    this.#contexts.set(id, { id, language, cwd, createdAt, lastUsed })
    await this.#assertOwn(id)
    return id
  }

  /**
   * A context ends with its container, so it is enough to ask once which one that is: code never
   * runs where the files of the workspace are not.
   */
  async #assertOwn(context: string): Promise<void> {
    try {
      await this.#options.link.ask('say ok', { isRepeatable: true })
    } catch (error) {
      await Promise.allSettled([this.remove(context)])
      throw error
    }
  }

  async run(context: string, code: string, options: DriverCodeOptions): Promise<DriverCodeOutcome> {
    const run = new CodeRun(options)
    const { calls, clock } = this.#options
    const stop = Promise.withResolvers<void>()
    const cancelTimer = clock.setTimer(options.timeoutMs, () => {
      run.timedOut = true
      stop.resolve()
    })
    const onAbort = (): void => stop.resolve()
    options.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      options.signal?.throwIfAborted()
      const target = this.#contextOf(context)
      const read = calls.make((stub) => run.read(stub, code, target), {
        deadlineMs: options.timeoutMs + GRACE_MS,
        isRepeatable: false,
      })
      const isStopped = await Promise.race([read.then(() => false), stop.promise.then(() => true)])
      if (isStopped) await this.#end(run, context)
      options.signal?.throwIfAborted()
      return run.outcome()
    } finally {
      cancelTimer()
      options.signal?.removeEventListener('abort', onAbort)
    }
  }

  async remove(context: string): Promise<void> {
    this.#contexts.delete(context)
    let attempts = 0
    const attempt = (stub: SandboxStub): Promise<void> => {
      attempts += 1
      return stub.deleteCodeContext(context)
    }
    const call = { deadlineMs: REMOVE_DEADLINE_MS, isRepeatable: true }
    try {
      await this.#options.calls.make(attempt, call)
    } catch (error) {
      // The first one has removed it, and its answer was lost.
      if (attempts > 1 && isMissing(error)) return
      throw error
    }
  }

  /** The run reports its own failure; that of ending it would hide what was printed. */
  async #end(run: CodeRun, context: string): Promise<void> {
    run.close()
    await Promise.allSettled([this.remove(context)])
  }

  #contextOf(id: string): CodeContext {
    const unknown = new Date(0)
    const made = { id, language: 'python', cwd: '/', createdAt: unknown, lastUsed: unknown }
    return this.#contexts.get(id) ?? made
  }
}

/** What one run has said so far. */
class CodeRun {
  timedOut = false
  readonly #options: DriverCodeOptions
  readonly #outputs: DriverCodeOutput[] = []
  #error: DriverCodeOutcome['error']
  #isClosed = false

  constructor(options: DriverCodeOptions) {
    this.#options = options
  }

  async read(stub: SandboxStub, code: string, context: CodeContext): Promise<void> {
    let isComplete = false
    for await (const event of readCodeEvents(await stub.runCodeStream(code, { context }))) {
      if (this.#isClosed) return
      if (event.type === 'complete') isComplete = true
      if (event.type === 'error') this.#error = event.error
      if (event.type !== 'output') continue
      this.#outputs.push(event.output)
      await this.#options.onOutput?.(event.output)
    }
    if (isComplete || this.#error !== undefined || this.#isClosed) return
    throw new DriverError('interrupted', 'the interpreter went away during the run', {
      admitted: 'unknown',
    })
  }

  /** Takes nothing more. */
  close(): void {
    this.#isClosed = true
  }

  outcome(): DriverCodeOutcome {
    return {
      outputs: [...this.#outputs],
      timedOut: this.timedOut,
      ...(this.#error !== undefined && !this.timedOut && { error: this.#error }),
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof DriverError && error.code === 'context-missing'
}

function isLanguage(language: string): language is Language {
  return language === 'python' || language === 'javascript' || language === 'typescript'
}
