import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, FileSystemError, type Logger, WorkspaceFailedError } from '@helix-agents/core'
import {
  type BackgroundProcess,
  INTERNAL_DIRECTORY,
  normalizePath,
  type ProcessOutput,
  type RunResult,
  type Shell,
  type ShellCommand,
  type ShellRunOptions,
} from '@helix-agents/core/provider'
import type { ChannelProcess } from './code/interpreter.ts'
import type { FileContext } from './file-system/file-context.ts'
import type { PinnedDirectory } from './file-system/path/pinned-directory.ts'
import { adoptFile } from './file-system/write-file.ts'
import type { OutputOffsets } from './shell/background-process.ts'
import { BackgroundProcesses } from './shell/background-processes.ts'
import { type CaptureOptions, OutputCapture } from './shell/output/output-capture.ts'
import type { CommandGate } from './shell/command-gate.ts'
import type { Launch, Launcher } from './shell/launcher.ts'
import { NamespaceHolds } from './shell/namespace/namespace-holds.ts'
import { closePipe, type Pipe, type PipePool } from './shell/output/pipe-pool.ts'
import type { ProcessHold } from './shell/processes/process-hold.ts'
import { MARKER_VARIABLE, readProcess } from './shell/processes/process-table.ts'
import { endTree, type TreeScope } from './shell/processes/process-tree.ts'
import { superviseCommand, toRunResult } from './shell/run-command.ts'
import { ScanHold } from './shell/processes/scan-hold.ts'
import { SpillFile } from './shell/output/spill-file.ts'
import { startProcess, type StartedProcess } from './shell/start-process.ts'

export interface SubprocessShellOptions {
  /** Name of the workspace among all of the host; marks its processes. */
  readonly name: string
  readonly files: FileContext
  readonly launcher: Launcher
  /** Whether nobody else, now or before, can have started processes of the workspace. */
  readonly isOnlyHere: () => boolean
  /** Says when a command may start. */
  readonly gate: CommandGate
  readonly pipes: PipePool
  /** Environment of every command. */
  readonly env: Readonly<Record<string, string>>
  readonly defaultTimeoutMs: number
  readonly maxOutputBytes: number
  readonly maxStoredOutputBytes: number
  /** Time between asking a command to end and killing it. */
  readonly killGraceMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Runs commands as processes of the host, at most as many at once as the gate lets through; the
 * time of a command begins when it starts.
 *
 * A line is run by `bash -c` without profile and start-up files, an argument vector without a
 * shell. Each command has its own session; what it leaves running when it ends is killed, as
 * `start` is the way to run something in the background. An ended call returns after the
 * deadline plus `killGraceMs` and at most two seconds.
 */
export class SubprocessShell implements Shell {
  readonly #options: SubprocessShellOptions
  readonly #background: BackgroundProcesses
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  readonly #namespaces = new NamespaceHolds()
  #hasLaunchedOutside = false
  /** When its first command started, in clock ticks of the host; unset with namespaces. */
  #sinceTicks: number | undefined

  constructor(options: SubprocessShellOptions) {
    this.#options = options
    const { scratch } = options.files
    this.#background = new BackgroundProcesses(scratch, {
      maxBytes: options.maxStoredOutputBytes,
      clock: options.clock,
    })
  }

  async run(command: ShellCommand, options: ShellRunOptions = {}): Promise<RunResult> {
    const signal = anySignal(this.#closing.signal, options.signal)
    const running = this.#options.gate.run(() => this.#run(command, options, signal), signal)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async start(
    command: ShellCommand,
    options: Pick<ShellRunOptions, 'cwd' | 'env'> = {},
  ): Promise<BackgroundProcess> {
    this.#assertOpen()
    this.#options.files.restore()
    const title = typeof command === 'string' ? command : command.join(' ')
    const background = this.#background.create(title)
    try {
      const id = newRunId()
      const launch = (): Launch => this.#launch(id, command, options)
      await this.#options.gate.takeTurn()
      this.#assertOpen()
      const pipes = await this.#takePipes()
      const started = startProcess(pipes, launch, background.sinks)
      background.attach(started, this.#holdOf(id, started))
      return background.describe()
    } catch (error) {
      this.#background.remove(background)
      throw error
    }
  }

  /**
   * Starts a program that is talked to through a channel, in the containment of commands. The caller
   * ends it.
   */
  async startChannelProcess(
    words: readonly string[],
    sinks: readonly [(piece: Uint8Array) => void, (piece: Uint8Array) => void],
  ): Promise<ChannelProcess> {
    this.#assertOpen()
    this.#options.files.restore()
    const id = newRunId()
    await this.#options.gate.takeTurn()
    this.#assertOpen()
    const launch = (): Launch => this.#launch(id, words, {})
    const started = startProcess(await this.#takePipes(), launch, sinks, true)
    const { channel } = started
    if (channel !== undefined) return { started, hold: this.#holdOf(id, started), channel }
    throw new WorkspaceFailedError('provider-failed', 'the interpreter could not be started')
  }

  async list(): Promise<readonly BackgroundProcess[]> {
    return this.#background.list()
  }

  async output(id: string, from: OutputOffsets = {}): Promise<ProcessOutput> {
    return this.#background.get(id).read(from)
  }

  async kill(id: string): Promise<void> {
    await this.#background.get(id).kill(this.#options.killGraceMs)
  }

  /** Ends every process of the workspace. Afterwards nothing can be run. */
  async close(): Promise<void> {
    const { name, files, killGraceMs, logger } = this.#options
    this.#closing.abort(closed())
    await Promise.allSettled(this.#running)
    await this.#background.killAll(killGraceMs)
    // To look through all processes of the host takes a while.
    const areEnded = !this.#hasLaunchedOutside && this.#namespaces.areEmpty
    if (areEnded && this.#options.isOnlyHere()) return
    const places = [join(files.scratch, 'pipes', '/')]
    const directory = (): string => files.containment.root
    const sinceTicks = this.#sinceTicks
    const scope = {
      marker: `${name}:`,
      places,
      ...(sinceTicks !== undefined && { sinceTicks, directory }),
    }
    const left = await endTree(scope, 0)
    if (left.length > 0) logger.warn({ pids: left }, 'processes of a workspace cannot be killed')
  }

  async #run(
    command: ShellCommand,
    options: ShellRunOptions,
    signal: AbortSignal,
  ): Promise<RunResult> {
    this.#options.files.restore()
    const id = newRunId()
    const callbackErrors: Error[] = []
    const capture = { run: options, errors: callbackErrors }
    const stdout = this.#capture(`${id}.stdout`, { ...capture, callback: 'onStdout' })
    const stderr = this.#capture(`${id}.stderr`, { ...capture, callback: 'onStderr' })
    const launch = (): Launch => this.#launch(id, command, options)
    const started = startProcess(await this.#takePipes(), launch, [stdout.add, stderr.add])
    const { killGraceMs, clock, defaultTimeoutMs } = this.#options
    const outcome = await superviseCommand(started, this.#holdOf(id, started), {
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      graceMs: killGraceMs,
      clock,
      signal,
    })
    if (outcome.end.complaint !== undefined) await stderr.add(Buffer.from(outcome.end.complaint))
    const publish = (hostPath: string, name: string): string | undefined =>
      this.#publish(hostPath, `${id}.${name}`)
    return toRunResult({ stdout, stderr, callbackErrors }, outcome, publish)
  }

  #capture(
    name: string,
    capture: Pick<CaptureOptions, 'run' | 'errors' | 'callback'>,
  ): OutputCapture {
    const { files, maxOutputBytes, maxStoredOutputBytes } = this.#options
    return new OutputCapture({
      ...capture,
      limitBytes: capture.run.maxOutputBytes ?? maxOutputBytes,
      spill: new SpillFile(join(files.scratch, name), maxStoredOutputBytes),
    })
  }

  #launch(id: string, command: ShellCommand, options: ShellRunOptions): Launch {
    const { launcher, env, name } = this.#options
    const path = normalizePath(options.cwd ?? '/')
    const directory = this.#openDirectory(path)
    try {
      const marker = { [MARKER_VARIABLE]: `${name}:${id}` }
      const request = { command, path, directory, env: { ...env, ...options.env, ...marker } }
      const launch = launcher.launch(request)
      // The directory stays open until the process has started in it, which is this same turn.
      queueMicrotask(() => directory.close())
      return launch
    } catch (error) {
      directory.close()
      throw error
    }
  }

  #openDirectory(path: string): PinnedDirectory {
    try {
      return this.#options.files.containment.openDirectory(path)
    } catch (error) {
      if (!FileSystemError.isInstance(error)) throw error
      if (error.code !== 'not-found' && error.code !== 'not-directory') throw error
      throw new WorkspaceFailedError(
        'working-directory-missing',
        `the working directory ${error.path} is missing or not a directory`,
        { cause: error, hint: 'Make the directory, or run the command in another one.' },
      )
    }
  }

  /** Moves a whole output to where the model can read it. */
  #publish(hostPath: string, name: string): string | undefined {
    const path = `${INTERNAL_DIRECTORY}/output/${name}`
    try {
      adoptFile(this.#options.files, path, { hostPath, options: { ifAbsent: true } })
      return path
    } catch (error) {
      this.#options.logger.warn({ err: error, path }, 'output of a command could not be stored')
      return undefined
    }
  }

  async #takePipes(): Promise<readonly [Pipe, Pipe]> {
    const { pipes, files } = this.#options
    const out = await pipes.take(files.scratch)
    try {
      return [out, await pipes.take(files.scratch)]
    } catch (error) {
      closePipe(out)
      throw error
    }
  }

  #holdOf(id: string, started: StartedProcess): ProcessHold {
    const { pid: leader, pipePaths: places, ended } = started
    const { launcher, name } = this.#options
    if (leader !== undefined && launcher.isNamespaced) return this.#namespaces.add(leader, ended)
    this.#hasLaunchedOutside = true
    const sinceTicks = leader === undefined ? undefined : readProcess(leader)?.startTime
    this.#sinceTicks ??= sinceTicks
    const scope: TreeScope = {
      marker: `${name}:${id}`,
      places,
      ...(leader !== undefined && { leader }),
      ...(sinceTicks !== undefined && { sinceTicks }),
      directory: () => this.#directoryOfOne(),
    }
    return new ScanHold(scope)
  }

  /** The directory of the workspace while a single command uses it: strays there are its. */
  #directoryOfOne(): string | undefined {
    const running = this.#background.list().filter(({ state }) => state === 'running')
    if (this.#running.size + running.length > 1) return undefined
    return this.#options.files.containment.root
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw closed()
  }
}

function closed(): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', 'the workspace is closed')
}

function newRunId(): string {
  return randomBytes(9).toString('hex')
}

function anySignal(closing: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([closing, signal])
}
