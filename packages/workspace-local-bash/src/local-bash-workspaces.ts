import { tmpdir } from 'node:os'
import { type Logger, noopLogger, systemClock, WorkspaceFailedError } from '@helix-agents/core'
import {
  type Containment,
  logMessages,
  type OpenedWorkspace,
  type OpenOptions,
  type ResolveOptions,
  type RestoreReceipt,
  type SessionRef,
} from '@helix-agents/core/provider'
import { createLocalCode } from './code/create-local-code.ts'
import type { LocalBashConfig, LocalBashIsolation } from './config.ts'
import { unguessableName } from './file-system/path/unguessable-name.ts'
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
import type { LocalBashWorkspaceProviderOptions } from './provider-options.ts'
import { type LocalBashRef, PROVIDER_ID, toRef } from './ref.ts'
import { CommandGate, DEFAULT_CONCURRENT_COMMANDS } from './shell/command-gate.ts'
import { DEFAULT_PASS_ENV, passedEnvironment } from './shell/environment.ts'
import { createBubblewrapLauncher, createPlainLauncher, type Launcher } from './shell/launcher.ts'
import { type Namespace, probeNamespace } from './shell/namespace/namespace.ts'
import { DEFAULT_MAX_PROCESSES } from './shell/namespace/process-limit.ts'
import { PipePool } from './shell/output/pipe-pool.ts'
import { endTree } from './shell/processes/process-tree.ts'
import { fixedPath } from './shell/program-path.ts'
import { LocalHistory } from './snapshots/local-history.ts'
import { LocalSnapshots, type PlacedWorkspace } from './snapshots/local-snapshots.ts'
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

/** What the provider has checked. */
export interface LocalBashWorkspacesOptions extends LocalBashWorkspaceProviderOptions {
  parseConfig(config: unknown): LocalBashConfig
}

/** A workspace that is to be made. */
export interface Opening {
  readonly env: Readonly<Record<string, string>>
  readonly isolation: LocalBashIsolation
  readonly session: SessionRef
  readonly options: OpenOptions
}

interface ShellParts extends Pick<
  SubprocessShellOptions,
  'launcher' | 'isOnlyHere' | 'env' | 'logger' | 'clock'
> {
  readonly directory: WorkspaceDirectory
  readonly fs: TmpdirFileSystem
}

/** The workspaces of a provider: loaded with the first of them. */
export class LocalBashWorkspaces {
  readonly history: LocalHistory
  readonly #options: LocalBashWorkspacesOptions
  readonly #tmpdirRoot: string
  readonly #gate: CommandGate
  readonly #pipes = new PipePool()
  readonly #snapshots: LocalSnapshots
  #warned = false

  constructor(options: LocalBashWorkspacesOptions) {
    const { maxConcurrentCommands, clock = systemClock, snapshots } = options
    const tmpdirRoot = options.tmpdirRoot ?? tmpdir()
    this.#options = options
    this.#tmpdirRoot = tmpdirRoot
    this.#gate = new CommandGate(maxConcurrentCommands ?? DEFAULT_CONCURRENT_COMMANDS)
    this.#snapshots = new LocalSnapshots(tmpdirRoot, clock, snapshots)
    this.history = new LocalHistory({
      tmpdirRoot,
      snapshots: this.#snapshots,
      parseConfig: (config) => options.parseConfig(config),
      isolationOf: ({ isolation }) => isolation ?? options.isolation ?? 'none',
    })
  }

  async open({ env, isolation, session, options }: Opening): Promise<OpenedWorkspace> {
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
  }

  async resolve(ref: LocalBashRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    const { directory: name, isolation } = ref
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
    const { maxProcesses = DEFAULT_MAX_PROCESSES } = this.#options
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
