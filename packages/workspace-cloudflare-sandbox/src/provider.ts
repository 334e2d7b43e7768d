import { WorkspaceFailedError } from '@helix-agents/core'
import type {
  OpenedWorkspace,
  OpenOptions,
  ProviderHistory,
  ResolveOptions,
  SessionRef,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import {
  type CloudflareSandboxConfig,
  type CloudflareSandboxConfigInput,
  DEFAULT_CONFIG,
  parseSandboxConfig,
  SANDBOX_KIND,
} from './config.ts'
import { OpenGate } from './lifecycle/open-gate.ts'
import { openSandbox } from './lifecycle/open-sandbox.ts'
import { ProviderMemory } from './lifecycle/provider-memory.ts'
import { resolveSandbox } from './lifecycle/resolve-sandbox.ts'
import { SandboxHistory } from './lifecycle/sandbox-history.ts'
import { releaseSandbox } from './lifecycle/release-sandbox.ts'
import { toOpenError } from './lifecycle/map-error.ts'
import {
  assertBindings,
  type CloudflareSandboxWorkspaceProviderOptions,
  readSettings,
  type SandboxSettings,
} from './provider-options.ts'
import { readRef, REF_SCHEMA_VERSION } from './ref.ts'

/**
 * Workspaces in Cloudflare Sandboxes: files, commands, code and snapshots in a container of their
 * own.
 *
 * The disk of a container is gone when it sleeps or is replaced. That is found out before an
 * operation acts, and told: the registry opens an empty workspace and says so, or the last
 * snapshot comes back, where `autoRestore` is declared. Mounted buckets stay.
 */
export class CloudflareSandboxWorkspaceProvider implements WorkspaceProvider<CloudflareSandboxConfigInput> {
  readonly providerId = SANDBOX_KIND
  readonly capabilities = {
    fs: true,
    shell: true,
    code: true,
    snapshot: true,
    branch: true,
  } as const
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly history: ProviderHistory = new SandboxHistory({
    servicesOf: (config) =>
      this.#services(config === undefined ? DEFAULT_CONFIG : this.parseConfig(config)),
  })
  readonly #options: CloudflareSandboxWorkspaceProviderOptions
  readonly #settings: SandboxSettings
  readonly #gate: OpenGate
  readonly #memory = new ProviderMemory()

  /** @throws {WorkspaceFailedError} `config-invalid`, naming the option. */
  constructor(options: CloudflareSandboxWorkspaceProviderOptions) {
    this.#options = options
    this.#settings = readSettings(options)
    this.#gate = new OpenGate(options.maxGlobalConcurrentOpens)
  }

  /** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field or missing binding. */
  parseConfig(config: unknown): CloudflareSandboxConfig {
    const parsed = parseSandboxConfig(config)
    assertBindings(parsed, this.#options)
    return parsed
  }

  /**
   * Starts the sandbox of a session, or finds it running.
   * @throws {WorkspaceFailedError} `sharing-not-declared`; `config-invalid`; `capability-missing` for
   * snapshots without a backup bucket, before anything is started; `transient` when the platform has no
   * room now, with the time it asks for.
   */
  open(
    config: CloudflareSandboxConfigInput,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    return this.#guarded(options, async () => {
      const parsed = this.parseConfig(config)
      assertSnapshots(parsed, options)
      return openSandbox(this.#services(parsed), { ...options, session })
    })
  }

  /**
   * Attaches to a sandbox whose disk is still the one of the ref, brings its snapshot back, or
   * makes the fork that the ref is of.
   * @throws {WorkspaceFailedError} `ref-invalid`, also for a sandbox of another session;
   * `ref-version`; `transient`.
   * @throws {WorkspaceEvictedError} `lost` when the disk is gone.
   */
  resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    return this.#guarded(options, async () => {
      const config = this.parseConfig(options.config ?? { kind: SANDBOX_KIND })
      if (options.config !== undefined) assertSnapshots(config, options)
      return resolveSandbox(this.#services(config), ref, options)
    })
  }

  /** A sandbox is one backend, whatever its refs know of its containers. */
  identify(ref: WorkspaceRef): string {
    return readRef(ref).sandbox
  }

  /** Ends the sandbox of one ref, and nothing else of its session. */
  async release(ref: WorkspaceRef, options: ResolveOptions): Promise<void> {
    const config = this.parseConfig(options.config ?? { kind: SANDBOX_KIND })
    await releaseSandbox(this.#services(config), ref, options)
  }

  /** Backups need a bucket; `portableSnapshots` needs none. */
  noHistory({ backupR2Binding }: CloudflareSandboxConfigInput): string | undefined {
    if (backupR2Binding !== undefined) return undefined
    return 'no backup bucket is declared (backupR2Binding)'
  }

  #services(config: CloudflareSandboxConfig) {
    return { options: this.#options, settings: this.#settings, memory: this.#memory, config }
  }

  async #guarded(
    { signal, clock }: OpenOptions,
    open: () => Promise<OpenedWorkspace>,
  ): Promise<OpenedWorkspace> {
    try {
      return await this.#gate.run(open, { signal, clock: this.#options.clock ?? clock })
    } catch (error) {
      throw toOpenError(error)
    }
  }
}

/** A container must not be started, and paid for, only to reject a declaration. */
function assertSnapshots(
  { backupR2Binding }: CloudflareSandboxConfig,
  { workspace, capabilities }: OpenOptions,
): void {
  if (capabilities.snapshot === undefined || backupR2Binding !== undefined) return
  const detail = `workspace "${workspace}" declares snapshot without a backup bucket (backupR2Binding)`
  throw new WorkspaceFailedError('capability-missing', detail, {
    hint: 'An operator must change the declaration of the workspace.',
  })
}
