/** A command that outlives the call that started it. */
export interface DriverProcess {
  readonly id: string
  readonly pid: number
  readonly command: string
  readonly state: 'running' | 'exited'
  /** 128 + signal when a signal ended it. */
  readonly exitCode?: number
  readonly startedAtMs: number
}

export interface DriverProcessOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly nextStdoutOffset: number
  readonly nextStderrOffset: number
  readonly process: DriverProcess
}

export interface StartOptions {
  /** Absolute path in the container. */
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Shown as `command` of the process, instead of its argument vector. */
  readonly title?: string
}

/** Processes of the container that the workspace started; they end with the container. */
export interface DriverProcesses {
  start(argv: readonly string[], options: StartOptions): Promise<DriverProcess>
  list(): Promise<readonly DriverProcess[]>
  /** @throws {DriverError} `process-missing`. */
  output(
    id: string,
    from: { readonly stdoutOffset: number; readonly stderrOffset: number },
  ): Promise<DriverProcessOutput>
  /** Ends the whole process group, by SIGTERM and after a grace by SIGKILL. */
  kill(id: string): Promise<void>
}
