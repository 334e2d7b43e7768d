/**
 * A command: a line for the shell, or an argument vector that no shell sees. Under an allowlist
 * the policy passes only argument vectors on.
 */
export type ShellCommand = string | readonly string[]

/** Options of one command. */
export interface ShellRunOptions {
  /** Working directory, a path of the workspace. Default `/`. */
  readonly cwd?: string
  /** Added to the environment of the workspace. */
  readonly env?: Readonly<Record<string, string>>
  /** Ends the command and everything it started. */
  readonly signal?: AbortSignal
  /** Default: the provider's. */
  readonly timeoutMs?: number
  /**
   * Bytes of each output to return. A longer one is cut in the middle; the whole is stored in
   * the workspace where the provider can. Default: the provider's.
   */
  readonly maxOutputBytes?: number
  /** Awaited for each piece, so that a slow reader slows the command. */
  onStdout?(chunk: Uint8Array): void | Promise<void>
  onStderr?(chunk: Uint8Array): void | Promise<void>
}

/** The result of a command that has ended, also of one that was stopped. */
export interface RunResult {
  /** The output, whole or cut in the middle: see `stdoutCut`. */
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Of the command; 128 + signal when a signal ended it, 124 when its time was up. */
  readonly exitCode: number
  readonly durationMs: number
  readonly timedOut: boolean
  /** Set when `stdout` is not whole. */
  readonly stdoutCut?: OutputCut
  readonly stderrCut?: OutputCut
  /** Errors of `onStdout` and `onStderr`; they never change the exit code. */
  readonly callbackErrors?: readonly Error[]
}

/** An output too large to return whole: head and tail were kept. */
export interface OutputCut {
  /** Bytes of the whole output. */
  readonly totalBytes: number
  /** Bytes of the head, that is the offset in the buffer where the tail starts. */
  readonly headBytes: number
  /** Where the whole output is stored in the workspace, when it is. */
  readonly path?: string
}

/** A command that was started in the background. */
export interface BackgroundProcess {
  readonly id: string
  readonly command: string
  readonly state: 'running' | 'exited'
  readonly exitCode?: number
  readonly startedAt: Date
}

/** The output of a background process so far. */
export interface ProcessOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Give these back to read on from here. */
  readonly nextStdoutOffset: number
  readonly nextStderrOffset: number
  readonly process: BackgroundProcess
}

/**
 * Runs commands in a workspace. Each starts fresh: no variable, no `cd` and no `set` of one
 * reaches the next. stdin is closed. On timeout or abort the whole process tree is gone before
 * the call returns, and the output so far is kept.
 */
export interface Shell {
  /**
   * Runs a command to its end. A command that fails is a result, not an error.
   * @throws {WorkspaceEvictedError} when the backend went away.
   * @throws {WorkspaceFailedError} `working-directory-missing`.
   */
  run(command: ShellCommand, options?: ShellRunOptions): Promise<RunResult>
  /** Starts a command that outlives the call; it ends with the workspace. */
  start?(
    command: ShellCommand,
    options?: Pick<ShellRunOptions, 'cwd' | 'env'>,
  ): Promise<BackgroundProcess>
  list?(): Promise<readonly BackgroundProcess[]>
  /** @throws {ToolInputError} `invalid-input` for an unknown id. */
  output?(
    id: string,
    from?: { readonly stdoutOffset?: number; readonly stderrOffset?: number },
  ): Promise<ProcessOutput>
  /** Ends the whole process tree; killing an ended process does nothing. */
  kill?(id: string): Promise<void>
}

/** True for exit code 0 without a callback error. */
export function runSucceeded(result: RunResult): boolean {
  return result.exitCode === 0 && (result.callbackErrors?.length ?? 0) === 0
}
