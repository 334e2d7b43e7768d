// Builds the child once and starts copies of it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { ChildReport, ChildTask } from './child-task.ts'

/** One file from all the sources: a child starts in a fraction of the time. */
export async function buildChild(
  directory: string,
  entryPoint = join(import.meta.dirname, 'crash-child.ts'),
): Promise<string> {
  const file = join(directory, 'crash-child.mjs')
  await build({
    entryPoints: [entryPoint],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    conditions: ['@helix-agents/source'],
    logLevel: 'error',
  })
  return file
}

/** How a child ended. */
export interface ChildEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class CrashChild {
  readonly reports: ChildReport[] = []
  /** Points it has passed. */
  points = 0
  stderr = ''
  readonly ended: Promise<ChildEnd>
  readonly #process: ChildProcess
  #hasEnded = false
  #wake: () => void = () => {}

  /** Starts one that waits for its task. */
  constructor(file: string) {
    const { PATH } = process.env
    this.#process = spawn(process.execPath, [file], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE: `${file}.cache`, NODE_NO_WARNINGS: '1' },
    })
    const { stdin, stdout, stderr } = this.#process
    if (stdout === null || stdin === null) throw new Error('a child has pipes')
    // It may die before it has read its task.
    stdin.on('error', () => {})
    stderr?.on('data', (text) => (this.stderr += String(text)))
    createInterface({ input: stdout }).on('line', (line) => this.#hear(line))
    this.ended = once(this.#process, 'close').then(([code, signal]) => {
      this.#hasEnded = true
      this.#wake()
      return { code, signal }
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  give(task: ChildTask): void {
    this.#process.stdin?.write(`${JSON.stringify(task)}\n`)
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  hasSaid(type: ChildReport['type']): boolean {
    return this.reports.some((report) => report.type === type)
  }

  /** Waits until something is so, or the child has ended. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.#hasEnded) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #hear(line: string): void {
    if (line === '.') this.points += 1
    else this.reports.push(JSON.parse(line) as ChildReport)
    this.#wake()
  }
}
