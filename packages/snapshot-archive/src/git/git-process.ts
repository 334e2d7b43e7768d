import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { SnapshotArchiveError } from '../archive-error.ts'

/** What a foreign repository cannot make `git` do: run a program, fetch, read other objects. */
const CONFIG = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'protocol.allow=never']
const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}
const MOST_COMPLAINTS = 1000

/** One run of the program `git` in a repository. */
export class GitProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #closed: Promise<unknown>
  #complaints = ''
  #failure: Error | undefined

  constructor(repository: string, args: readonly string[], signal?: AbortSignal) {
    const config = CONFIG.flatMap((setting) => ['-c', setting])
    const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env
    this.#child = spawn('git', ['-C', repository, ...config, ...args], {
      env: { ...env, ...ENVIRONMENT },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(signal !== undefined && { signal }),
    })
    this.stdin = this.#child.stdin
    this.stdout = this.#child.stdout
    // A program that ends early is reported by its exit code.
    this.stdin.on('error', () => undefined)
    this.#child.on('error', (error) => (this.#failure = error))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints = `${this.#complaints}${text}`.slice(0, MOST_COMPLAINTS)
    })
    this.#closed = once(this.#child, 'close').catch((error: unknown) => error)
  }

  /** Waits for its end. @throws {SnapshotArchiveError} `repository-failed` */
  async end(): Promise<void> {
    this.stdin.end()
    await this.#closed
    if (this.#child.exitCode === 0 && this.#failure === undefined) return
    throw new SnapshotArchiveError(
      'repository-failed',
      `git cannot read the repository: ${this.#complaints.trim() || (this.#failure?.message ?? '')}`,
      { cause: this.#failure },
    )
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
