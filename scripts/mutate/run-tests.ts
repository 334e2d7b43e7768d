import { spawn } from 'node:child_process'

/** How a run of tests has ended: green, with a failure, or not within its time. */
export type TestsEnd = 'passed' | 'failed' | 'timed-out'

/** A run of tests. */
export interface TestRun {
  /** The root of the repository that is tested. */
  readonly folder: string
  /** For temporary files. */
  readonly temporary: string
  /** Files of tests, from the root. */
  readonly files: readonly string[]
  readonly timeoutMs: number
  /** Ends the run, with all processes it has started. */
  readonly signal: AbortSignal
}

/** Runs files of tests up to the first failure, one file at a time. */
export async function runTests(run: TestRun): Promise<TestsEnd> {
  const vitest = ['run', '--config', 'vitest.workspace.ts', '--bail', '1', '--maxWorkers', '1']
  const program = ['node_modules/vitest/vitest.mjs', ...vitest, '--reporter', 'dot', ...run.files]
  return runProgram(process.execPath, program, run)
}

/**
 * Runs a program in a process group of its own. The group is killed when the time is up, and at
 * the end, so that nothing that a mutant has started lives on.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  { folder, temporary, timeoutMs, signal }: Omit<TestRun, 'files'>,
): Promise<TestsEnd> {
  signal.throwIfAborted()
  const env = { ...process.env, TMPDIR: temporary }
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: 'ignore' })
  const { promise, resolve, reject } = Promise.withResolvers<TestsEnd>()
  child.once('error', reject)
  child.once('exit', (code) => resolve(code === 0 ? 'passed' : 'failed'))
  const timer = setTimeout(() => resolve('timed-out'), timeoutMs)
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    if (child.pid !== undefined) killGroup(child.pid)
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
