import {
  type BackgroundProcess,
  normalizePath,
  type ProcessOutput,
  type RunResult,
  type Shell,
  type ShellCommand,
  type ShellRunOptions,
} from '@helix-agents/core/provider'
import { SPILL_DIRECTORY, toContainerPath } from '../container-path.ts'
import type { DriverProcess, DriverProcessOutput } from '../../driver/processes.ts'
import type { LiveSandbox } from '../../lifecycle/live-sandbox.ts'
import { checkEnv, titleOf, toArgv } from './command.ts'
import { toRunResult } from './run-result.ts'

export interface SandboxShellOptions {
  /** Time of a command that asks for none, in milliseconds. */
  readonly defaultTimeoutMs: number
  /** Bytes of each output that a command returns when it asks for none. */
  readonly maxOutputBytes: number
  /** How long after its time a command may take to end, in milliseconds. */
  readonly endGraceMs: number
}

/** What a shell asks of its sandbox. */
export type ShellCalls = Pick<LiveSandbox, 'call' | 'assertEpoch'>

/** What `onStdout` and `onStderr` have in common. */
type OnPiece = (chunk: Uint8Array) => void | Promise<void>

/**
 * Runs commands in the container. A line is run by `bash -c` without start-up files, an argument
 * vector without a shell; each starts fresh, so that none can break the next.
 */
export class CloudflareSandboxShell implements Shell {
  readonly #sandbox: ShellCalls
  readonly #options: SandboxShellOptions
  readonly #started = new Set<string>()

  constructor(sandbox: ShellCalls, options: SandboxShellOptions) {
    this.#sandbox = sandbox
    this.#options = options
  }

  async run(command: ShellCommand, options: ShellRunOptions = {}): Promise<RunResult> {
    options.signal?.throwIfAborted()
    const argv = toArgv(command)
    const { signal, env } = options
    checkEnv(env)
    const cwd = normalizePath(options.cwd ?? '/')
    const timeoutMs = options.timeoutMs ?? this.#options.defaultTimeoutMs
    const errors: Error[] = []
    const [onStdout, onStderr] = [
      guard(options.onStdout?.bind(options), errors),
      guard(options.onStderr?.bind(options), errors),
    ]
    const outcome = await this.#sandbox.call(
      (driver) =>
        driver.exec(argv, {
          cwd: toContainerPath(cwd),
          timeoutMs,
          maxOutputBytes: options.maxOutputBytes ?? this.#options.maxOutputBytes,
          spillDirectory: SPILL_DIRECTORY,
          ...(env !== undefined && { env }),
          ...(signal !== undefined && { signal }),
          ...(onStdout !== undefined && { onStdout }),
          ...(onStderr !== undefined && { onStderr }),
        }),
      { path: cwd, timeoutMs: timeoutMs + this.#options.endGraceMs },
    )
    this.#sandbox.assertEpoch(outcome.epoch)
    return toRunResult(outcome, errors)
  }

  async start(
    command: ShellCommand,
    options: Pick<ShellRunOptions, 'cwd' | 'env'> = {},
  ): Promise<BackgroundProcess> {
    const argv = toArgv(command)
    const cwd = normalizePath(options.cwd ?? '/')
    const { env } = options
    checkEnv(env)
    const process = await this.#sandbox.call(
      ({ processes }) =>
        processes.start(argv, {
          cwd: toContainerPath(cwd),
          title: titleOf(command),
          ...(env !== undefined && { env }),
        }),
      { path: cwd },
    )
    this.#started.add(process.id)
    return toBackgroundProcess(process)
  }

  async list(): Promise<readonly BackgroundProcess[]> {
    const all = await this.#sandbox.call(({ processes }) => processes.list())
    return all.map(toBackgroundProcess)
  }

  async output(
    id: string,
    from: { readonly stdoutOffset?: number; readonly stderrOffset?: number } = {},
  ): Promise<ProcessOutput> {
    const { stdoutOffset = 0, stderrOffset = 0 } = from
    const output = await this.#sandbox.call(({ processes }) =>
      processes.output(id, { stdoutOffset, stderrOffset }),
    )
    return toProcessOutput(output)
  }

  async kill(id: string): Promise<void> {
    await this.#sandbox.call(({ processes }) => processes.kill(id))
    this.#started.delete(id)
  }

  /** Ends what this handle started, as far as the container can be reached. Never rejects. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#started].map((id) => this.kill(id)))
    this.#started.clear()
  }
}

/** Errors of a callback are collected; they must not end the command. */
function guard(
  callback: OnPiece | undefined,
  errors: Error[],
): ((chunk: Uint8Array) => Promise<void>) | undefined {
  if (callback === undefined) return undefined
  return async (chunk) => {
    try {
      await callback(chunk)
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

function toProcessOutput({ process, ...output }: DriverProcessOutput): ProcessOutput {
  return { ...output, process: toBackgroundProcess(process) }
}

function toBackgroundProcess(process: DriverProcess): BackgroundProcess {
  const { id, command, state, exitCode } = process
  return {
    id,
    command,
    state,
    startedAt: new Date(process.startedAtMs),
    ...(exitCode !== undefined && { exitCode }),
  }
}
