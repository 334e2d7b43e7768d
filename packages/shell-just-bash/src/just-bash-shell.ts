import { FileSystemError, WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import {
  type EngineShell,
  normalizePath,
  type OpenLimit,
  quoteWord,
  type RunResult,
  type ShellCommand,
  type ShellEngineHost,
  type ShellRunOptions,
} from '@helix-agents/core/provider'
import type { ShellSettings } from './options.ts'
import { OutputCapture, storeOutput } from './output-capture.ts'
import { RunHost } from './run-host.ts'
import {
  type MetadataEntry,
  type Script,
  type ScriptEnd,
  type ScriptRunner,
  SHELL_ROOT,
} from './script/script.ts'

const FAILED = 1
const TIMED_OUT = 124
/** 128 + SIGTERM. */
const ENDED = 143

/** What one workspace's shell is made of. */
export interface JustBashShellParts {
  readonly host: ShellEngineHost
  readonly settings: ShellSettings
  readonly runner: ScriptRunner
  /** Says when a command may start. */
  readonly gate: OpenLimit
}

/** The shell of one workspace: each command is one script of just-bash. */
export class JustBashShell implements EngineShell {
  readonly root = SHELL_ROOT
  readonly #parts: JustBashShellParts
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #metadata: readonly MetadataEntry[] = []

  constructor(parts: JustBashShellParts) {
    this.#parts = parts
  }

  async run(command: ShellCommand, options: ShellRunOptions = {}): Promise<RunResult> {
    if (this.#closing.signal.aborted) throw closed()
    options.signal?.throwIfAborted()
    const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])]
    const signal = AbortSignal.any(signals)
    const running = this.#parts.gate(() => this.#run(command, options, signal), signal)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(closed())
    await Promise.allSettled(this.#running)
    await this.#parts.runner.close()
  }

  async #run(
    command: ShellCommand,
    options: ShellRunOptions,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const { host, settings } = this.#parts
    const script = await this.#scriptOf(command, options)
    const startedAt = host.clock.now()
    const errors: Error[] = []
    const limitBytes = options.maxOutputBytes ?? settings.maxOutputBytes
    const stdout = new OutputCapture({
      limitBytes,
      callback: callbackOf(options, 'onStdout'),
      errors,
    })
    const stderr = new OutputCapture({
      limitBytes,
      callback: callbackOf(options, 'onStderr'),
      errors,
    })
    const batch = host.startBatch?.()
    const run = new RunHost({
      files: batch?.files ?? host.files,
      ...(batch !== undefined && { commit: () => batch.commit() }),
      settings,
      stdout,
      stderr,
      signal,
      clock: host.clock,
    })
    const timeoutMs = options.timeoutMs ?? settings.defaultTimeoutMs
    const end = await this.#supervise(script, run, timeoutMs)
    const id = newRunId()
    const store = (name: string) => (bytes: Uint8Array) =>
      storeOutput(host.files, { name: `${id}.${name}`, bytes }, host.logger)
    const [out, err] = [await stdout.finish(store('stdout')), await stderr.finish(store('stderr'))]
    return {
      stdout: out.bytes,
      stderr: err.bytes,
      exitCode: end.exitCode,
      durationMs: host.clock.now() - startedAt,
      timedOut: run.timedOut,
      ...(out.cut !== undefined && { stdoutCut: out.cut }),
      ...(err.cut !== undefined && { stderrCut: err.cut }),
      ...(errors.length > 0 && { callbackErrors: errors }),
    }
  }

  /** Runs the script until it ends, is aborted or its time is up. */
  async #supervise(script: Script, run: RunHost, timeoutMs: number): Promise<ScriptEnd> {
    const { host, runner } = this.#parts
    const cancel = host.clock.setTimer(timeoutMs, () => run.endBy('timeout'), {
      keepsProcessAlive: true,
    })
    try {
      const end = await runner.run(script, run, run.signal).finally(() => run.finish())
      if (end.metadata !== undefined) this.#metadata = end.metadata
      if (run.failure !== undefined) throw outcomeUnknown(run.failure)
      if (run.timedOut) return { exitCode: TIMED_OUT }
      if (run.signal.aborted) return { exitCode: run.exitCode ?? ENDED }
      return end.exitCode === 0 && run.hasRejectedChanges ? { exitCode: FAILED } : end
    } finally {
      cancel()
    }
  }

  async #scriptOf(command: ShellCommand, options: ShellRunOptions): Promise<Script> {
    const { settings } = this.#parts
    const cwd = await this.#directory(options.cwd ?? '/')
    return {
      source: typeof command === 'string' ? command : command.map(quoteWord).join(' '),
      cwd,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: SHELL_ROOT,
        USER: 'user',
        LANG: 'C.UTF-8',
        TZ: 'UTC',
        TMPDIR: '/tmp',
        ...settings.env,
        ...options.env,
      },
      limits: settings.limits,
      hostCommands: [...settings.commands.keys()],
      allowedUrls: settings.allowedUrls,
      metadata: this.#metadata,
    }
  }

  async #directory(cwd: string): Promise<string> {
    const path = normalizePath(cwd)
    if (path === '/') return SHELL_ROOT
    if (!(await this.#isDirectory(path))) throw directoryMissing(path)
    return `${SHELL_ROOT}${path}`
  }

  async #isDirectory(path: string): Promise<boolean> {
    try {
      return (await this.#parts.host.files.stat(path)).type === 'directory'
    } catch (error) {
      if (FileSystemError.isInstance(error) && error.code === 'not-found') return false
      throw error
    }
  }
}

function callbackOf(
  options: ShellRunOptions,
  name: 'onStdout' | 'onStderr',
): ShellRunOptions['onStdout'] {
  return options[name] === undefined ? undefined : (chunk) => options[name]?.(chunk)
}

function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function closed(): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', 'the workspace is closed')
}

function directoryMissing(path: string): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'working-directory-missing',
    `the working directory ${path} is missing or not a directory`,
    { hint: 'Make the directory, or run the command in another one.' },
  )
}

/** Parts of the command may have run before its files went away. */
function outcomeUnknown(failure: unknown): unknown {
  if (!WorkspaceEvictedError.isInstance(failure) || failure.admitted === 'unknown') return failure
  const { code, message } = failure
  return new WorkspaceEvictedError(message, { code, admitted: 'unknown', cause: failure })
}
