import { type Clock, systemClock, WorkspaceFailedError } from '@helix-agents/core'
import type { RunResult } from '@helix-agents/core/provider'
import type { OutputCapture } from './output/output-capture.ts'
import type { OutputReader } from './output/output-reader.ts'
import type { ProcessHold } from './processes/process-hold.ts'
import type { ProcessEnd, StartedProcess } from './start-process.ts'

const TIMED_OUT = 124
const KILLED = 128 + 9
/** How long an output may stay silent after its command ended before it is abandoned. */
const SILENCE_MS = 250
/** How long callbacks may take after a command was ended. */
const LATE_MS = 1000
const POLL_MS = 20
const POLLS_TO_READ = 3

export interface RunLimits {
  readonly timeoutMs: number
  readonly graceMs: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
}

/** What became of a command. */
export interface Outcome {
  readonly end: ProcessEnd
  readonly timedOut: boolean
  readonly durationMs: number
}

/**
 * Waits for a command to end, or ends it. Returns when neither it nor anything it started is
 * left and its output is read.
 */
export async function superviseCommand(
  started: StartedProcess,
  hold: ProcessHold,
  limits: RunLimits,
): Promise<Outcome> {
  const startMs = performance.now()
  const stop = watchForStop(limits)
  try {
    const first = await Promise.race([started.ended, stop.reason])
    const durationMs = (): number => performance.now() - startMs
    if (typeof first === 'object') {
      await hold.endLeftovers(durationMs())
      if (first.failure !== undefined) throw cannotStart(first.failure)
      const last = await Promise.race([drain(started.readers), stop.reason])
      return { end: first, timedOut: last === 'timeout', durationMs: durationMs() }
    }
    await hold.end(limits.graceMs)
    const end = await Promise.race([started.ended, giveUp()])
    await Promise.race([drain(started.readers), systemClock.sleep(LATE_MS)])
    return { end, timedOut: first === 'timeout', durationMs: durationMs() }
  } finally {
    stop.cancel()
    stopReaders(started.readers)
  }
}

/** The host may allow it again: so many namespaces at once, so much memory. */
function cannotStart(reason: string): WorkspaceFailedError {
  return new WorkspaceFailedError('provider-failed', 'the command could not be started', {
    cause: new Error(reason),
    transient: true,
  })
}

/** For a process that even the system cannot end, such as one that waits for a broken disk. */
async function giveUp(): Promise<ProcessEnd> {
  await systemClock.sleep(LATE_MS)
  return { exitCode: KILLED }
}

interface Stop {
  readonly reason: Promise<'timeout' | 'abort'>
  cancel(): void
}

function watchForStop({ timeoutMs, clock, signal }: RunLimits): Stop {
  const { promise, resolve } = Promise.withResolvers<'timeout' | 'abort'>()
  const onAbort = (): void => resolve('abort')
  const cancelTimer = clock.setTimer(timeoutMs, () => resolve('timeout'))
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  return {
    reason: promise,
    cancel: () => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** Waits for the ends of the outputs; one that another process still holds is abandoned when silent. */
async function drain(readers: StartedProcess['readers']): Promise<void> {
  const ended = Promise.all(readers.map((reader) => reader.ended)).then(() => true)
  for (let poll = 1; !(await Promise.race([ended, systemClock.sleep(POLL_MS)])); poll += 1) {
    // A time alone says nothing while this process is busy: the first polls only let it read.
    if (poll <= POLLS_TO_READ) continue
    for (const reader of readers) if (reader.idleMs > SILENCE_MS) reader.stop()
  }
}

function stopReaders(readers: readonly OutputReader[]): void {
  for (const reader of readers) reader.stop()
}

/** Both outputs of a command, and the errors of its callbacks. */
export interface CapturedRun {
  readonly stdout: OutputCapture
  readonly stderr: OutputCapture
  readonly callbackErrors: readonly Error[]
}

/** @param publish Stores a whole output in the workspace; gives its path. */
export function toRunResult(
  run: CapturedRun,
  { end, timedOut, durationMs }: Outcome,
  publish: (hostPath: string, name: 'stdout' | 'stderr') => string | undefined,
): RunResult {
  const stdout = run.stdout.finish((hostPath) => publish(hostPath, 'stdout'))
  const stderr = run.stderr.finish((hostPath) => publish(hostPath, 'stderr'))
  return {
    stdout: stdout.bytes,
    stderr: stderr.bytes,
    exitCode: timedOut ? TIMED_OUT : end.exitCode,
    durationMs,
    timedOut,
    ...(stdout.cut !== undefined && { stdoutCut: stdout.cut }),
    ...(stderr.cut !== undefined && { stderrCut: stderr.cut }),
    ...(run.callbackErrors.length > 0 && { callbackErrors: [...run.callbackErrors] }),
  }
}
