import { WorkspaceFailedError } from '@helix-agents/core'
import {
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
import {
  assertProviderOptions,
  type LocalBashWorkspaceProviderOptions,
} from './provider-options.ts'
import { CAPABILITIES, parseRef, PROVIDER_ID, REF_SCHEMA_VERSION } from './ref.ts'
import { requireBubblewrap } from './shell/require-bubblewrap.ts'

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
  #workspaces: Promise<LocalBashWorkspaces> | undefined

  /** @throws {WorkspaceFailedError} `config-invalid` for a number that is out of range. */
  constructor(options: LocalBashWorkspaceProviderOptions = {}) {
    assertProviderOptions(options)
    this.#options = options
    this.#limitOpens = createOpenLimit(options.maxGlobalConcurrentOpens)
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
