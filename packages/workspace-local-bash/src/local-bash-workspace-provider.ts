import { tmpdir } from 'node:os'
import {
  type Clock,
  type Logger,
  noopLogger,
  systemClock,
  WorkspaceFailedError,
} from '@helix-agents/core'
import {
  type Containment,
  createOpenLimit,
  logMessages,
  type OpenedWorkspace,
  type OpenLimit,
  type OpenOptions,
  type ResolveOptions,
  type RestoreReceipt,
  type SessionRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { unguessableName } from './file-system/path/unguessable-name.ts'
import { createLocalCode } from './code/create-local-code.ts'
import { type LocalBashConfig, type LocalBashIsolation, parseLocalBashConfig } from './config.ts'
import { LocalBashWorkspace } from './local-bash-workspace.ts'
import {
  hashSession,
  isOwnerAlive,
  isOwnerElsewhere,
  ownMarker,
  type OwnerMarker,
  readOwner,
  watchOwner,
  writeOwner,
} from './owner.ts'
import { CAPABILITIES, parseRef, PROVIDER_ID, REF_SCHEMA_VERSION, toRef } from './ref.ts'
import { DEFAULT_PASS_ENV, passedEnvironment } from './shell/environment.ts'
import {
  createBubblewrapLauncher,
  createPlainLauncher,
  type Launcher,
  requireBubblewrap,
} from './shell/launcher.ts'
import { CommandGate, DEFAULT_CONCURRENT_COMMANDS } from './shell/command-gate.ts'
import { type Namespace, probeNamespace } from './shell/namespace/namespace.ts'
import { PipePool } from './shell/output/pipe-pool.ts'
import { endTree } from './shell/processes/process-tree.ts'
import { DEFAULT_MAX_PROCESSES, MIN_PROCESSES } from './shell/namespace/process-limit.ts'
import { fixedPath } from './shell/program-path.ts'
import { LocalHistory } from './snapshots/local-history.ts'
import {
  type LocalBashSnapshotOptions,
  LocalSnapshots,
  type PlacedWorkspace,
} from './snapshots/local-snapshots.ts'
import { SubprocessShell, type SubprocessShellOptions } from './subprocess-shell.ts'
import { TmpdirFileSystem } from './tmpdir-file-system.ts'
import {
  createDirectory,
  findDirectory,
  removeDirectory,
  restoreDirectory,
  type WorkspaceDirectory,
} from './workspace-directory.ts'

const MEBIBYTE = 1024 * 1024

/** Options of a {@link LocalBashWorkspaceProvider}. */
export interface LocalBashWorkspaceProviderOptions {
  /** Where workspaces are made. Default: the temporary directory of the system. */
  readonly tmpdirRoot?: string
  /** Isolation of declarations that set none. Default `none`. */
  readonly isolation?: LocalBashIsolation
  /**
   * How the processes of commands are held with isolation `none`. `namespace`: each command has a
   * namespace of its own; an open fails where the host allows none. `scan`: they are found
   * among those of the host, and can read the environment of its processes. Default `auto`:
   * `namespace` where the host allows it, else `scan`.
   */
  readonly containment?: Containment | 'auto'
  /**
   * Variables of the host that commands get; `*` at the end stands for anything. Default `PATH`,
   * `LANG`, `LC_*` and `TZ`. `HOME` and `TMPDIR` are always those of the workspace.
   */
  readonly passEnv?: readonly string[]
  /** Log of operations. Default: that of the executor. */
  readonly logger?: Logger
  /** Time, for tests. Default: that of the executor. */
  readonly clock?: Clock
  /** Workspaces of this provider that may be opening at once. Default: no bound. */
  readonly maxGlobalConcurrentOpens?: number
  /**
   * Commands of all workspaces of this provider that run at once; the others wait in order, and the
   * time of a command begins when it starts. Background processes do not count. Default: 8 for
   * each core, 16 at least.
   */
  readonly maxConcurrentCommands?: number
  /**
   * Processes and threads that one command may have at once, 301 or more: a fork bomb gets no
   * further, and ends with its command. In force where commands have a namespace, as a normal user
   * from Linux 5.14 on, as root from 6.14 on and not with `bubblewrap`; `describe()` shows it.
   * Default 2,048.
   */
  readonly maxProcesses?: number
  /** Timeout of commands that set none, in milliseconds. Default 120,000. */
  readonly defaultTimeoutMs?: number
  /** Bytes of each output that a command returns when it sets no limit. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of one output that are stored when it is longer than that. Default 2 GiB. */
  readonly maxStoredOutputBytes?: number
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default 250. */
  readonly killGraceMs?: number
  /** Where snapshots are stored, and how many of them. Default: beside the workspaces, the last 16. */
  readonly snapshots?: LocalBashSnapshotOptions
  /** Platform, for tests. Default: that of the process. */
  readonly platform?: NodeJS.Platform
}

interface ShellParts extends Pick<
  SubprocessShellOptions,
  'launcher' | 'isOnlyHere' | 'env' | 'logger' | 'clock'
> {
  readonly directory: WorkspaceDirectory
  readonly fs: TmpdirFileSystem
}

/**
 * Workspaces in temporary directories, their commands run by the shell of the host. POSIX only.
 *
 * Without isolation commands can do what the process can: for development, not for production.
 * A workspace survives the process; `close` removes it, `reapLocalBashTmpdirs` what crashes left.
 */
export class LocalBashWorkspaceProvider implements WorkspaceProvider<LocalBashConfig> {
  readonly providerId = PROVIDER_ID
  readonly capabilities = CAPABILITIES
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly history: LocalHistory
  readonly #options: LocalBashWorkspaceProviderOptions
  readonly #limitOpens: OpenLimit
  readonly #gate: CommandGate
  readonly #pipes = new PipePool()
  readonly #maxProcesses: number
  readonly #snapshots: LocalSnapshots
  #warned = false

  constructor(options: LocalBashWorkspaceProviderOptions = {}) {
    this.#options = options
    this.#gate = new CommandGate(options.maxConcurrentCommands ?? DEFAULT_CONCURRENT_COMMANDS)
    this.#limitOpens = createOpenLimit(options.maxGlobalConcurrentOpens)
    this.#maxProcesses = options.maxProcesses ?? DEFAULT_MAX_PROCESSES
    if (!Number.isInteger(this.#maxProcesses) || this.#maxProcesses < MIN_PROCESSES) {
      const problem = `maxProcesses must be a whole number of ${MIN_PROCESSES} or more`
      throw new WorkspaceFailedError('config-invalid', problem)
    }
    const clock = options.clock ?? systemClock
    this.#snapshots = new LocalSnapshots(this.#tmpdirRoot, clock, options.snapshots)
    this.history = new LocalHistory({
      tmpdirRoot: this.#tmpdirRoot,
      snapshots: this.#snapshots,
      parseConfig: (config) => this.parseConfig(config),
      isolationOf: (config) => this.#isolationOf(config),
    })
  }

  parseConfig(config: unknown): LocalBashConfig {
    const parsed = parseLocalBashConfig(config)
    if (this.#isolationOf(parsed) === 'bubblewrap') requireBubblewrap()
    return parsed
  }

  async open(
    config: LocalBashConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    this.#rejectPlatform(options)
    const parsed = this.parseConfig(config)
    const [isolation, env] = [this.#isolationOf(parsed), parsed.env ?? {}]
    return this.#limitOpens(async () => {
      const directory = createDirectory(this.#tmpdirRoot)
      try {
        const ids = { session: hashSession(session.sessionId), line: unguessableName() }
        const marker = this.#mark(directory, { ...ids, env, isolation })
        const isOnlyHere = watchOwner(directory.path)
        restoreDirectory(directory)
        const placed = { directory, isolation, marker, options, session }
        const ws = await this.#build(placed, isOnlyHere)
        return { ws, ref: toRef({ directory: directory.name, isolation }), receipt: CREATED }
      } catch (error) {
        await removeDirectory(directory.path)
        throw error
      }
    }, options.signal)
  }

  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    this.#rejectPlatform(options)
    const { directory: name, isolation } = parseRef(ref)
    return this.#limitOpens(async () => {
      const directory = findDirectory(this.#tmpdirRoot, name)
      const session = hashSession(options.session.sessionId)
      const before = readOwner(directory.path)
      if (before?.session !== undefined && before.session !== session) {
        throw new WorkspaceFailedError('ref-invalid', 'the ref is of another session')
      }
      if (before !== undefined) await endAbandoned(directory, before)
      const { env = {}, line = unguessableName(), lost } = before ?? {}
      const marker = this.#mark(directory, { session, line, env, isolation })
      const placed = { directory, isolation, marker, options, session: options.session }
      const ws = await this.#build(placed, () => false)
      return { ws, ref: toRef({ directory: name, isolation }), receipt: receiptOf(lost) }
    }, options.signal)
  }

  /**
   * Removes one workspace and nothing else of its session.
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` while another process uses it.
   */
  async release(ref: WorkspaceRef, options: ResolveOptions): Promise<void> {
    await this.history.release(ref, options)
  }

  get #tmpdirRoot(): string {
    return this.#options.tmpdirRoot ?? tmpdir()
  }

  #isolationOf(config: LocalBashConfig): LocalBashIsolation {
    return config.isolation ?? this.#options.isolation ?? 'none'
  }

  #rejectPlatform({ capabilities }: OpenOptions | ResolveOptions): void {
    if ((this.#options.platform ?? process.platform) === 'win32') {
      throw new WorkspaceFailedError('provider-failed', WINDOWS)
    }
    // Pipes that Node opens by their descriptors: Bun loses what commands print, Deno cannot start any.
    const runtime = ['Bun', 'Deno'].find((name) => name in globalThis)
    const hasCommands = capabilities.shell !== undefined || capabilities.code !== undefined
    if (runtime === undefined || !hasCommands) return
    throw new WorkspaceFailedError('provider-failed', `${ONLY_NODE}, and this is ${runtime}`)
  }

  #mark(
    directory: WorkspaceDirectory,
    details: Omit<OwnerMarker, 'format' | 'process' | 'sinceMs'>,
  ): OwnerMarker {
    const sinceMs = (this.#options.clock ?? systemClock).now()
    const marker = ownMarker({ ...details, sinceMs })
    writeOwner(directory.path, marker)
    return marker
  }

  async #build(parts: PlacedWorkspace, isOnlyHere: () => boolean): Promise<LocalBashWorkspace> {
    const { directory, isolation, marker, options } = parts
    const logger = this.#options.logger ?? options.logger ?? noopLogger
    const clock = this.#options.clock ?? options.clock
    const launcher = await this.#createLauncher(directory, isolation, logger)
    const fs = new TmpdirFileSystem({
      root: directory.root,
      scratch: directory.scratch,
      shellRoot: launcher.shellRoot,
      maxFileBytes: (options.capabilities.fs?.maxFileSizeMb ?? Number.POSITIVE_INFINITY) * MEBIBYTE,
      restore: () => restoreDirectory(directory),
    })
    const from = { directory, launcher, fs, isOnlyHere, env: marker.env, logger, clock }
    const settings = this.#shellOptions(from)
    const shell = new SubprocessShell(settings)
    const { code: declared } = options.capabilities
    const code = declared && (await createLocalCode(shell, settings, declared.languages))
    return new LocalBashWorkspace({
      directory,
      marker,
      isolation: isolation === 'bubblewrap' ? 'process' : 'none',
      containment: launcher.isNamespaced ? 'namespace' : 'scan',
      maxProcesses: launcher.maxProcesses,
      shellRoot: launcher.shellRoot,
      fs,
      shell,
      ...(code !== undefined && { code }),
      snapshot: this.#snapshots.snapshotterOf(parts, {
        files: fs.context,
        shellRoot: launcher.shellRoot,
        clock,
        logger,
      }),
      release: () => this.#snapshots.release(directory, marker),
      clock,
      logger,
    })
  }

  #shellOptions({ directory, fs, env: own, ...given }: ShellParts): SubprocessShellOptions {
    const passed = passedEnvironment(process.env, this.#options.passEnv ?? DEFAULT_PASS_ENV)
    const env: Record<string, string> = { ...passed, ...given.launcher.baseEnv, ...own }
    if (env.PATH !== undefined) env.PATH = fixedPath(env.PATH, directory.path)
    return {
      ...given,
      name: directory.name,
      files: fs.context,
      gate: this.#gate,
      pipes: this.#pipes,
      env,
      defaultTimeoutMs: this.#options.defaultTimeoutMs ?? 120_000,
      maxOutputBytes: this.#options.maxOutputBytes ?? MEBIBYTE,
      maxStoredOutputBytes: this.#options.maxStoredOutputBytes ?? 2048 * MEBIBYTE,
      killGraceMs: this.#options.killGraceMs ?? 250,
    }
  }

  async #createLauncher(
    { root, tmp }: WorkspaceDirectory,
    isolation: LocalBashIsolation,
    logger: Logger,
  ): Promise<Launcher> {
    const maxProcesses = this.#maxProcesses
    if (isolation === 'bubblewrap') {
      const { namespace } = await probeNamespace()
      return createBubblewrapLauncher(root, tmp, { namespace, maxProcesses })
    }
    const namespace = await this.#findNamespace(logger)
    return createPlainLauncher(root, tmp, { namespace, maxProcesses })
  }

  async #findNamespace(logger: Logger): Promise<Namespace | undefined> {
    const { containment = 'auto' } = this.#options
    if (containment === 'scan') return this.#warnOnce(logger, { containment })
    const { namespace, reason } = await probeNamespace()
    if (namespace === undefined && containment === 'namespace') {
      throw new WorkspaceFailedError(
        'config-invalid',
        `containment 'namespace' needs a namespace for processes, which the host does not allow: ${reason}`,
        { hint: "An operator must allow user namespaces, or choose containment 'auto'." },
      )
    }
    const inForce = namespace === undefined ? 'scan' : 'namespace'
    this.#warnOnce(logger, { containment: inForce, ...(reason !== undefined && { reason }) })
    return namespace
  }

  #warnOnce(logger: Logger, fields: { readonly containment: Containment }): undefined {
    if (this.#warned) return
    this.#warned = true
    const all = { providerId: PROVIDER_ID, isolation: 'none', ...fields }
    logger.warn(all, logMessages.noIsolation)
  }
}

/** What a dead owner left running would change files behind the back of its successor. */
async function endAbandoned(directory: WorkspaceDirectory, before: OwnerMarker): Promise<void> {
  if (before.process === undefined || isOwnerAlive(before) || isOwnerElsewhere(before)) return
  await endTree({ marker: `${directory.name}:`, places: [`${directory.scratch}/`] }, 0)
}

const CREATED = { outcome: 'created' } as const
/** @param lost What a restore has not brought back. */
function receiptOf(lost: string | undefined): RestoreReceipt {
  return lost === undefined ? REATTACHED : { ...REATTACHED, detail: lost }
}

const REATTACHED = { outcome: 'reattached' } as const

const ONLY_NODE = 'LocalBashWorkspaceProvider: commands run in Node only'
const WINDOWS =
  'LocalBashWorkspaceProvider: Windows is not supported. Use WSL and run the agent inside it.'
