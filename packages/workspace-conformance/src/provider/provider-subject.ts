import {
  type Capabilities,
  type CapabilitiesInput,
  codeConfigSchema,
  type FileSystem,
  fileSystemConfigSchema,
  noopLogger,
  type OpenedWorkspace,
  type OpenOptions,
  shellConfigSchema,
  snapshotConfigSchema,
  systemClock,
  type Workspace,
  type WorkspaceCapabilityFlags,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core'
import { check, ConformanceError, equal } from '../assert.ts'

/** A provider over a backend of its own, and the means to disturb it. */
export interface ProviderHarness {
  readonly provider: WorkspaceProvider
  /** A valid config, `kind` included. */
  readonly config: { readonly kind: string }
  /** Removes the backend. */
  dispose?(): Promise<void>
  /** Makes the backend of a workspace vanish behind the provider's back. */
  evict?(ref: WorkspaceRef): Promise<void>
  /** The provider as a new process sees it: the same storage, no memory of open workspaces. */
  restart?(): Promise<WorkspaceProvider>
  /** A ref as the previous schema version wrote it. Default: only the version number differs. */
  olderRef?(ref: WorkspaceRef): WorkspaceRef
  /** Paths of the host that no error may show, such as the temporary directory. */
  readonly hostPaths?: readonly string[]
  /** Values planted in the host, such as in its environment, that nothing may show. */
  readonly secrets?: readonly string[]
}

export interface KitOpenOptions {
  readonly sessionId?: string
  readonly workspace?: string
  readonly signal?: AbortSignal
  readonly capabilities?: CapabilitiesInput
}

/** A harness with the calls that behaviours make, and defaults for their options. */
export class ProviderSubject {
  readonly harness: ProviderHarness
  readonly capabilities: WorkspaceCapabilityFlags
  /** Of every open that names none; unlike any other. */
  readonly sessionId = `kit-${crypto.randomUUID()}`
  readonly #extras: readonly string[]
  readonly #opened: Workspace[] = []

  constructor(
    harness: ProviderHarness,
    capabilities: WorkspaceCapabilityFlags,
    extras: readonly string[] = [],
  ) {
    this.harness = harness
    this.capabilities = capabilities
    this.#extras = extras
  }

  get provider(): WorkspaceProvider {
    return this.harness.provider
  }

  open(options: KitOpenOptions = {}): Promise<OpenedWorkspace> {
    return this.openWith(this.harness.config, options)
  }

  /** Opens with another config than the harness gives. */
  async openWith(
    config: { readonly kind: string },
    options: KitOpenOptions = {},
  ): Promise<OpenedWorkspace> {
    const session = { sessionId: options.sessionId ?? this.sessionId, agentType: 'kit' }
    return this.#keep(await this.provider.open(config, session, this.#options(options)))
  }

  /** Opens and returns the files. */
  async openFiles(options: KitOpenOptions = {}): Promise<FileSystem> {
    return filesOf((await this.open(options)).ws)
  }

  async resolve(
    ref: WorkspaceRef,
    options: KitOpenOptions = {},
    provider: WorkspaceProvider = this.provider,
  ): Promise<OpenedWorkspace> {
    const session = { sessionId: options.sessionId ?? this.sessionId, agentType: 'kit' }
    const { config } = this.harness
    return this.#keep(await provider.resolve(ref, { ...this.#options(options), session, config }))
  }

  async evict(ref: WorkspaceRef): Promise<void> {
    if (this.harness.evict === undefined) throw missingHook('evict')
    await this.harness.evict(ref)
  }

  async restart(): Promise<WorkspaceProvider> {
    if (this.harness.restart === undefined) throw missingHook('restart')
    return this.harness.restart()
  }

  /** Closes what was opened, then removes the backend. */
  async dispose(): Promise<void> {
    try {
      for (const workspace of this.#opened.toReversed()) await workspace.close()
    } finally {
      await this.harness.dispose?.()
    }
  }

  #keep(opened: OpenedWorkspace): OpenedWorkspace {
    this.#opened.push(opened.ws)
    const { shell, code } = opened.ws
    equal(
      { background: shell?.start !== undefined, 'stateful-code': code?.isStateful === true },
      {
        background: this.#extras.includes('background'),
        'stateful-code': this.#extras.includes('stateful-code'),
      },
    )
    return opened
  }

  #options(options: KitOpenOptions): OpenOptions {
    return {
      workspace: options.workspace ?? 'box',
      capabilities: parseCapabilities(this.capabilities, options.capabilities ?? {}),
      signal: options.signal ?? new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    }
  }
}

/** The files of a workspace that must have some. */
export function filesOf(workspace: Workspace): FileSystem {
  check(workspace.fs !== undefined, 'a workspace with files')
  return workspace.fs
}

/** What an agent would have declared: everything the provider offers. */
function parseCapabilities(
  flags: WorkspaceCapabilityFlags,
  policy: CapabilitiesInput,
): Capabilities {
  const input = (name: keyof CapabilitiesInput): object => {
    const value = policy[name]
    return typeof value === 'object' ? value : {}
  }
  return {
    ...(flags.fs && { fs: fileSystemConfigSchema.parse(input('fs')) }),
    ...(flags.shell && { shell: shellConfigSchema.parse(input('shell')) }),
    ...(flags.code && { code: codeConfigSchema.parse(input('code')) }),
    ...(flags.snapshot && { snapshot: snapshotConfigSchema.parse(input('snapshot')) }),
  }
}

function missingHook(name: string): ConformanceError {
  return new ConformanceError(
    `expected createProvider() to give ${name}(); give it, or declare a deviation with the reason`,
  )
}
