import type { OutputCut, RunResult } from '@helix-agents/core/provider'
import { toWorkspacePath } from '../container-path.ts'
import type { ExecOutcome, ExecOutput } from '../../driver/port.ts'

const TIMED_OUT = 124
const KILLED = 128 + 9

/** @param callbackErrors of `onStdout` and `onStderr`. */
export function toRunResult(outcome: ExecOutcome, callbackErrors: readonly Error[]): RunResult {
  const { stdout, stderr } = outcome
  const [stdoutCut, stderrCut] = [cutOf(stdout), cutOf(stderr)]
  return {
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    exitCode: exitCodeOf(outcome),
    durationMs: outcome.durationMs,
    timedOut: outcome.timedOut,
    ...(stdoutCut !== undefined && { stdoutCut }),
    ...(stderrCut !== undefined && { stderrCut }),
    ...(callbackErrors.length > 0 && { callbackErrors }),
  }
}

/** One that was ended from outside has not succeeded, whatever it says at last. */
function exitCodeOf({ exitCode, timedOut, aborted }: ExecOutcome): number {
  if (timedOut) return TIMED_OUT
  return aborted && exitCode === 0 ? KILLED : exitCode
}

function cutOf({ totalBytes, headBytes, spillPath }: ExecOutput): OutputCut | undefined {
  if (headBytes === undefined) return undefined
  const path = spillPath === undefined ? undefined : toWorkspacePath(spillPath)
  return path === undefined ? { totalBytes, headBytes } : { totalBytes, headBytes, path }
}
