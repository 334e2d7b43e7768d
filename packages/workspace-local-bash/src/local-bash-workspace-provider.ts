import { type Clock, type Logger, WorkspaceFailedError } from '@helix-agents/core'
import {
  type Containment,
  createOpenLimit,
  type OpenedWorkspace,
  type OpenLimit,
  type OpenOptions,
  type ProviderHistory,
  type ResolveOptions,
  type SessionRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { type LocalBashConfig, type LocalBashIsolation, parseLocalBashConfig } from './config.ts'
import type { LocalBashWorkspaces } from './local-bash-workspaces.ts'
import { CAPABILITIES, parseRef, PROVIDER_ID, REF_SCHEMA_VERSION } from './ref.ts'
import { DEFAULT_MAX_PROCESSES, MIN_PROCESSES } from './shell/namespace/process-limit.ts'
import { requireBubblewrap } from './shell/require-bubblewrap.ts'
import type { LocalBashSnapshotOptions } from './snapshots/local-snapshots.ts'

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
  readonly history: ProviderHistory = {
    restore: async (ref, options) => (await this.#load()).history.restore(ref, options),
    remove: async (ref) => (await this.#load()).history.remove(ref),
    list: async (sessionId) => (await this.#load()).history.list(sessionId),
  }
  readonly #options: LocalBashWorkspaceProviderOptions
  readonly #limitOpens: OpenLimit
  readonly #maxProcesses: number
  #workspaces: Promise<LocalBashWorkspaces> | undefined

  constructor(options: LocalBashWorkspaceProviderOptions = {}) {
    this.#options = options
    this.#limitOpens = createOpenLimit(options.maxGlobalConcurrentOpens)
    this.#maxProcesses = options.maxProcesses ?? DEFAULT_MAX_PROCESSES
    if (!Number.isInteger(this.#maxProcesses) || this.#maxProcesses < MIN_PROCESSES) {
      const problem = `maxProcesses must be a whole number of ${MIN_PROCESSES} or more`
      throw new WorkspaceFailedError('config-invalid', problem)
    }
  }

  parseConfig(config: unknown): LocalBashConfig {
    const parsed = parseLocalBashConfig(config)
    if ((parsed.isolation ?? this.#isolation) === 'bubblewrap') requireBubblewrap()
    return parsed
  }

  async open(
    config: LocalBashConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    this.#rejectPlatform(options)
    const { env = {}, isolation } = this.parseConfig(config)
    const opening = { env, isolation: isolation ?? this.#isolation, session, options }
    return this.#limitOpens(async () => {
      const workspaces = await this.#load()
      options.signal.throwIfAborted()
      return workspaces.open(opening)
    }, options.signal)
  }

  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    this.#rejectPlatform(options)
    const parsed = parseRef(ref)
    return this.#limitOpens(async () => {
      const workspaces = await this.#load()
      options.signal.throwIfAborted()
      return workspaces.resolve(parsed, options)
    }, options.signal)
  }

  /**
   * Removes one workspace and nothing else of its session.
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` while another process uses it.
   */
  async release(ref: WorkspaceRef, options: ResolveOptions): Promise<void> {
    const { history } = await this.#load()
    await history.release(ref, options)
  }

  /** Everything behind a workspace, which a process that opens none does not load. */
  #load(): Promise<LocalBashWorkspaces> {
    this.#workspaces ??= import('./local-bash-workspaces.ts').then(
      ({ LocalBashWorkspaces: Workspaces }) =>
        new Workspaces({
          ...this.#options,
          maxProcesses: this.#maxProcesses,
          parseConfig: (config) => this.parseConfig(config),
        }),
    )
    return this.#workspaces
  }

  get #isolation(): LocalBashIsolation {
    return this.#options.isolation ?? 'none'
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
}

const ONLY_NODE = 'LocalBashWorkspaceProvider: commands run in Node only'
const WINDOWS =
  'LocalBashWorkspaceProvider: Windows is not supported. Use WSL and run the agent inside it.'
