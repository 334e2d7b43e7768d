// Three processes on one database, killed and frozen again and again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import { build } from 'esbuild'
import type { CrashTask } from './crash-plan.ts'

const MINUTES = 60_000

/** What is done to a process. */
export type Fate =
  | { readonly kind: 'point'; readonly dieAtPoint: number }
  | { readonly kind: 'moment' | 'frozen'; readonly afterMs: number }

export class CrashLab {
  readonly directory = mkdtempSync(join(tmpdir(), 'helix-pg-crash-'))
  readonly #file = join(this.directory, 'crash-child.mjs')
  readonly #task: Omit<CrashTask, 'clockAheadMs' | 'effectLog'>
  readonly #living = new Set<ChildProcess>()
  killed = 0

  constructor(task: Omit<CrashTask, 'clockAheadMs' | 'effectLog'>) {
    this.#task = task
  }

  get #effectLog(): string {
    return join(this.directory, 'effects.log')
  }

  /** One file from all the sources: a child starts in a fraction of the time. */
  async build(): Promise<void> {
    await build({
      entryPoints: [join(import.meta.dirname, 'crash-child.ts')],
      outfile: this.#file,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      conditions: ['@helix-agents/source'],
      external: ['pg-native'],
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
      },
      logLevel: 'error',
    })
  }

  /** Keeps three processes at work until all sessions are done; the clocks of two are wrong. */
  async run(fates: readonly Fate[]): Promise<void> {
    const left = [...fates]
    const clocks = [0, 5 * MINUTES, -5 * MINUTES]
    await Promise.all(clocks.map((clockAheadMs) => this.#keepOne(clockAheadMs, left)))
  }

  effects(): readonly string[] {
    const text = existsSync(this.#effectLog) ? readFileSync(this.#effectLog, 'utf8') : ''
    return text.split('\n').filter((line) => line !== '')
  }

  remove(): void {
    for (const child of this.#living) child.kill('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** A process takes the place of one that was killed, until one finds everything done. */
  async #keepOne(clockAheadMs: number, left: Fate[]): Promise<void> {
    for (let isDone = false; !isDone;) {
      isDone = await this.#live(clockAheadMs, left.pop())
    }
  }

  /** Whether the process ended by itself. */
  async #live(clockAheadMs: number, fate: Fate | undefined): Promise<boolean> {
    const task: CrashTask = {
      ...this.#task,
      effectLog: this.#effectLog,
      clockAheadMs,
      begins: clockAheadMs === 0,
      ...(fate?.kind === 'point' && { dieAtPoint: fate.dieAtPoint }),
    }
    const { PATH } = process.env
    const child = spawn(process.execPath, [this.#file, JSON.stringify(task)], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE: `${this.#file}.cache`, NODE_NO_WARNINGS: '1' },
    })
    this.#living.add(child)
    let stderr = ''
    child.stderr?.on('data', (text) => (stderr += String(text)))
    const ended = once(child, 'close')
    if (fate !== undefined && fate.kind !== 'point') void this.#strike(child, fate)
    const [code, signal] = await ended
    this.#living.delete(child)
    if (signal === 'SIGKILL') this.killed += 1
    else if (code !== 0) throw new Error(stderr)
    return signal !== 'SIGKILL'
  }

  /** A frozen process wakes when another one has its sessions. */
  async #strike(child: ChildProcess, fate: Extract<Fate, { afterMs: number }>): Promise<void> {
    await systemClock.sleep(fate.afterMs)
    if (fate.kind === 'moment') return void child.kill('SIGKILL')
    child.kill('SIGSTOP')
    await systemClock.sleep(2 * this.#task.leaseMs)
    child.kill('SIGCONT')
  }
}
