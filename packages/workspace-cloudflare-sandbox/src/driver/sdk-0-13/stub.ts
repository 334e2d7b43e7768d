import type { SandboxStub } from '../sdk-0-12/stub.ts'

/** A process of the container, bound to the runtime that started it. */
export interface NextProcess {
  /** Waits for its end; all outputs, or what the server has kept of them. */
  output(): Promise<NextProcessOutput>
}

/** The end of a command of the 0.13 line, with its outputs. */
export interface NextProcessOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly exitCode: number
  readonly timedOut: boolean
  /** The server has forgotten a part. */
  readonly truncated: boolean
}

/**
 * What the driver calls of a sandbox of the 0.13 line. A command is an argument vector, and what
 * comes back is a handle; there are no sessions and no transports. Files, backups and mounts are
 * those of 0.12.
 */
export interface NextSandboxStub extends Omit<SandboxStub, 'exec' | 'getContainerPlacementId'> {
  exec(
    argv: readonly [executable: string, ...others: string[]],
    options: { readonly cwd: string; readonly timeout?: number },
  ): Promise<NextProcess>
}
