import { type ChildProcess, spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { baseEnvironment, imageOf } from '../environment.ts'
import { ServiceError } from '../service-error.ts'
import { PYTHON_EXECUTOR } from './python-executor.ts'

/** First argument of a container server that is to be a JavaScript executor instead. */
export const EXECUTOR_MODE = 'executor'

/** The languages that contexts speak. */
export type Language = 'javascript' | 'python' | 'typescript'

/** What a run gave, all of it at its end. */
export interface ExecutorReply {
  readonly id: number
  readonly stdout: string
  readonly stderr: string
  readonly outputs: readonly Readonly<Record<string, unknown>>[]
  readonly error: ExecutorError | null
  readonly count: number
}

export interface ExecutorError {
  readonly name: string
  readonly message: string
  readonly traceback: readonly string[]
}

type Message = ExecutorReply | { readonly ready: true }

/**
 * A Python or Node that runs code for a context. Requests and replies share stdin and stdout with the
 * code: when anything else is written there, or the process ends, the reply never comes.
 */
export class Executor {
  readonly #child: ChildProcess
  readonly #input: Writable
  readonly #waiting = new Map<number, (reply: ExecutorReply) => void>()
  readonly #ready = Promise.withResolvers<boolean>()
  #received = ''
  #count = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    const { stdin, stdout } = child
    if (!(stdin instanceof Writable) || !(stdout instanceof Readable)) {
      throw new ServiceError('INTERNAL_ERROR', 'the executor has no pipes')
    }
    this.#input = stdin
    // One that is gone takes no requests, without a report.
    stdin.on('error', () => stdin.destroy())
    stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    child.on('error', () => this.#ready.resolve(false))
    child.on('exit', () => this.#ready.resolve(false))
  }

  /** @throws {ServiceError} `INTERNAL_ERROR` when it does not get as far as taking requests. */
  static async start(language: Language, cwd: string): Promise<Executor> {
    const [file, args] = commandOf(language)
    const child = spawn(file, args, {
      cwd,
      env: baseEnvironment(),
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const executor = new Executor(child)
    if (await executor.#ready.promise) return executor
    throw new ServiceError('INTERNAL_ERROR', `the ${language} executor ended before it was ready`)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves with the reply; never, when the code has spoiled it. */
  run(code: string, language: Language): Promise<ExecutorReply> {
    this.#count += 1
    const id = this.#count
    const { promise, resolve } = Promise.withResolvers<ExecutorReply>()
    this.#waiting.set(id, resolve)
    this.#input.write(`${JSON.stringify({ id, code, language })}\n`)
    return promise
  }

  /** Asks it to end, and it alone: code that never yields, ignores it or has children keeps running. */
  end(): void {
    this.#child.kill('SIGTERM')
  }

  /** A reply is read from where the last one ended: what is not JSON stays in front of all others. */
  #take(text: string): void {
    this.#received += text
    if (!this.#received.endsWith('\n')) return
    const messages = this.#received.trimEnd().split('\n').map(parse)
    if (messages.includes(undefined)) return
    this.#received = ''
    for (const message of messages) {
      if (message === undefined) continue
      if ('ready' in message) this.#ready.resolve(true)
      else this.#settle(message)
    }
  }

  #settle(reply: ExecutorReply): void {
    this.#waiting.get(reply.id)?.(reply)
    this.#waiting.delete(reply.id)
  }
}

function parse(line: string): Message | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what an executor of ours wrote
    const message = JSON.parse(line) as Message
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    // Something else of the same stdout.
    return undefined
  }
}

function commandOf(language: Language): readonly [string, readonly string[]] {
  if (language === 'python') {
    const shell = imageOf() === 'python' ? 'ipython' : 'plain'
    return ['python3', ['-u', '-c', PYTHON_EXECUTOR, shell]]
  }
  const server = process.argv[1] ?? ''
  return [process.execPath, ['--no-warnings', server, EXECUTOR_MODE]]
}
