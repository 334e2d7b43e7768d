import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Command } from './confinement.ts'
import type { TestReport, TestRequest } from './protocol.ts'

/** Where and how tests run. */
export interface TestServerParts {
  /** The root of the repository that is tested. */
  readonly folder: string
  /** The files that may be asked for. */
  readonly files: readonly string[]
  /** Wraps the command of the server. */
  readonly confine: (command: Command) => Command
  /** Ends the server, with all processes that tests have started. */
  readonly signal: AbortSignal
}

/** What a run of tests has come to: a report, or an end without one. */
export type RunEnd = TestReport | 'timed-out' | 'crashed'

const PATIENCE_MS = 3000

/** Vitest in a process of its own, which starts with the first request and again after a failure. */
export class TestServer {
  readonly #parts: TestServerParts
  #child: ChildProcess | undefined

  constructor(parts: TestServerParts) {
    this.#parts = parts
    parts.signal.addEventListener('abort', () => this.stop(), { once: true })
  }

  /**
   * Runs tests. The server ends what takes longer than the limit; when it is stuck itself, or what has
   * to end has started processes, all of it is killed after the patience.
   */
  async run(request: TestRequest, patienceMs = PATIENCE_MS): Promise<RunEnd> {
    const child = this.#child ?? (await this.#start())
    const ended = new AbortController()
    const limitMs = Math.ceil(request.limitMs + patienceMs)
    const limit = AbortSignal.any([ended.signal, AbortSignal.timeout(limitMs)])
    try {
      child.send(request)
      const [report] = await Promise.race([
        once(child, 'message', { signal: limit }),
        once(child, 'exit', { signal: ended.signal }).then(() => ['crashed' as const]),
      ])
      if (report === 'crashed') this.stop()
      this.#parts.signal.throwIfAborted()
      return report as RunEnd
    } catch (error) {
      this.#parts.signal.throwIfAborted()
      if (!limit.aborted) throw error
      this.stop()
      return 'timed-out'
    } finally {
      ended.abort()
    }
  }

  /** Kills the server and what it has started. */
  stop(): void {
    const child = this.#child
    this.#child = undefined
    if (child?.pid !== undefined) killGroup(child.pid)
  }

  async #start(): Promise<ChildProcess> {
    const { folder, files, confine, signal } = this.#parts
    signal.throwIfAborted()
    const server = join(import.meta.dirname, 'server.ts')
    const [program, ...args] = confine([process.execPath, server, ...files])
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    const output: Buffer[] = []
    const collect = (chunk: Buffer): void => void output.push(chunk)
    child.stderr?.on('data', collect)
    const start = new AbortController()
    try {
      const [first] = await Promise.race([
        once(child, 'message', { signal: start.signal }),
        once(child, 'close', { signal: start.signal }),
      ])
      signal.throwIfAborted()
      if (first === 'ready') return child
    } finally {
      start.abort()
      // What comes later is read, and dropped.
      child.stderr?.off('data', collect).resume()
    }
    this.stop()
    throw new Error(`the tests cannot be started: ${Buffer.concat(output).toString().trim()}`)
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    // All of it has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
