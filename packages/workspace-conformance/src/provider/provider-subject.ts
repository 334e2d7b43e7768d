import { type CapabilitiesInput, noopLogger, systemClock } from '@helix-agents/core'
import type {
  FileSystem,
  OpenedWorkspace,
  OpenOptions,
  Workspace,
  WorkspaceCapabilityFlags,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { type Capabilities, workspaceModules } from '@helix-agents/core/runtime'
import { check, ConformanceError, equal } from '../assert.ts'
import { findStranger } from '../file-system/acts-inside.ts'
import { unguessable } from '../unguessable.ts'
import type { Decoys } from './decoys.ts'

/** A provider over a backend of its own, and the means to disturb it. */
export interface ProviderHarness {
  readonly provider: WorkspaceProvider
  /** A valid config, `kind` included. */
  readonly config: { readonly kind: string }
  /**
   * Removes the backend: what the test made for it, and nothing that a ref, an id or a workspace
   * names.
   */
  dispose?(): Promise<void>
  /**
   * Files beside the backend that nothing may reach. Give them where the backend is made of files
   * of the host; without them only another workspace of the provider is aimed at.
   */
  readonly decoys?: Decoys
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

/** Options of an open by the kit. Default: a session, a workspace and a signal of its own. */
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
  readonly sessionId = unguessable()
  /** In every name of a session and a workspace: a backend may make paths of them. */
  readonly #mark = unguessable()
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

  /** Id of a session that no other subject has. */
  session(name: string): string {
    return `${this.#mark}-${name}`
  }

  /** Name of a workspace that no other subject has. */
  workspace(name: string): string {
    return `${name}-${this.#mark}`
  }

  async open(options: KitOpenOptions = {}): Promise<OpenedWorkspace> {
    const { config } = this.harness
    const session = { sessionId: options.sessionId ?? this.sessionId, agentType: 'kit' }
    const opened = await this.provider.open(config, session, this.#options(options))
    await this.#assertOwn(opened)
    return this.#keep(opened)
  }

  /** Tries to open with a config that must be rejected. What opens is detached, never closed. */
  async openForged(config: unknown): Promise<void> {
    const session = { sessionId: this.sessionId, agentType: 'kit' }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a wrong config is the point
    const wrong = config as { readonly kind: string }
    const opened = await this.provider.open(wrong, session, this.#options({}))
    await letGo(opened, `a config to be rejected, and ${JSON.stringify(config)} opened a workspace`)
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

  /**
   * Tries to resolve what no provider ever wrote. Closing what opens would remove whatever it
   * leads to, so that it is detached only.
   * @param isHarmless Whether it is the workspace that the ref was forged from, and nothing else.
   * @throws {ConformanceError} when it opens; otherwise whatever the provider throws.
   */
  async resolveForged(
    forged: unknown,
    isHarmless: (opened: OpenedWorkspace) => Promise<boolean> = async () => false,
  ): Promise<void> {
    const session = { sessionId: this.sessionId, agentType: 'kit' }
    const options = { ...this.#options({}), session, config: this.harness.config }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a store may hold is not typed
    const opened = await this.provider.resolve(forged as WorkspaceRef, options)
    if (await isHarmless(opened)) return opened.ws.detach?.()
    await letGo(opened, `a forged ref to be rejected, and ${brief(forged)} opened a workspace`)
  }

  async evict(ref: WorkspaceRef): Promise<void> {
    if (this.harness.evict === undefined) throw missingHook('evict')
    await this.harness.evict(ref)
  }

  async restart(): Promise<WorkspaceProvider> {
    if (this.harness.restart === undefined) throw missingHook('restart')
    return this.harness.restart()
  }

  /** Closes what was opened, and nothing that a forged ref led to; then removes the backend. */
  async dispose(): Promise<void> {
    try {
      for (const workspace of this.#opened.toReversed()) await workspace.close()
    } finally {
      await this.harness.dispose?.()
    }
  }

  /** What is not a workspace of its own may be a directory of the host, and stays as it is. */
  async #assertOwn(opened: OpenedWorkspace): Promise<void> {
    if (opened.receipt.outcome !== 'created' || opened.ws.fs === undefined) return
    const problem = await findStranger(opened.ws.fs)
    if (problem !== undefined) await letGo(opened, `a new and empty workspace, got ${problem}`)
  }

  #keep(opened: OpenedWorkspace): OpenedWorkspace {
    this.#opened.push(opened.ws)
    const { shell, code, fs } = opened.ws
    equal(
      {
        background: shell?.start !== undefined,
        processes: shell !== undefined && fs?.realPath !== undefined,
        'stateful-code': code?.isStateful === true,
      },
      {
        background: this.#extras.includes('background'),
        processes: this.#extras.includes('processes'),
        'stateful-code': this.#extras.includes('stateful-code'),
      },
    )
    return opened
  }

  #options(options: KitOpenOptions): OpenOptions {
    return {
      workspace: options.workspace ?? this.workspace('box'),
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
  const offered = Object.values(workspaceModules).filter(({ name }) => flags[name])
  return Object.fromEntries(
    offered.map(({ name, configSchema }) => {
      const value = policy[name]
      return [name, configSchema.parse(typeof value === 'object' ? value : {})]
    }),
  )
}

/** Fails without closing: what a close would remove is unknown. */
async function letGo({ ws }: OpenedWorkspace, expected: string): Promise<never> {
  const [detached] = await Promise.allSettled([ws.detach?.()])
  const cause = detached.status === 'rejected' ? { cause: detached.reason } : {}
  throw new ConformanceError(`expected ${expected}; it was detached and not closed`, cause)
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 200)
}

function missingHook(name: string): ConformanceError {
  return new ConformanceError(
    `expected createProvider() to give ${name}(); give it, or declare a deviation with the reason`,
  )
}
