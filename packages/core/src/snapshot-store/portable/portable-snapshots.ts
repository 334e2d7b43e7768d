import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import type { SnapshotRef } from '../../modules/snapshot/contract.ts'
import type {
  HeldBySession,
  OpenedWorkspace,
  OpenOptions,
  ProviderHistory,
  ResolveOptions,
  SessionRef,
  WorkspaceProvider,
} from '../../workspace/provider.ts'
import { hasMethod } from '../../workspace/has-method.ts'
import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { logMessages } from '../../logging/log-messages.ts'
import { assertFileSizes } from '../file-sizes.ts'
import type { SnapshotLoss } from '../loss.ts'
import type { SnapshotManifest } from '../manifest.ts'
import {
  assertSameSession,
  logLosses,
  parsePortableRef,
  PortableSnapshotter,
  readSnapshot,
  toPortableRef,
  toWorkspaceError,
} from './portable-snapshotter.ts'
import { restoreSnapshot } from '../restore-snapshot.ts'
import type { SnapshotStore } from '../snapshot-store.ts'
import { allManifests } from '../verify-snapshots.ts'

const DEFAULT_MAX_SNAPSHOTS = 16

/** Where the snapshots of a provider are stored, and how many. */
export interface PortableSnapshotsOptions {
  readonly store: SnapshotStore
  /** Scope of the store for a session. Equal contents are stored once a scope. Default: its id. */
  readonly scope?: (sessionId: string) => string
  /** Left out of snapshots, in the syntax of `.gitignore`. Default: nothing. */
  readonly ignore?: readonly string[]
  /** Snapshots of one workspace beside those with `keep`; the oldest go first. Default: 16. */
  readonly maxSnapshots?: number
}

/** A provider that checks what an agent declares, as each one of Helix Agents does. */
export type ConfigurableProvider<Config extends { readonly kind: string }> =
  WorkspaceProvider<Config> & Required<Pick<WorkspaceProvider<Config>, 'parseConfig'>>

/**
 * The same provider, with the capability `snapshot` over any workspace that has `fs`. A snapshot is
 * taken from the files and stored in `store`; a restore opens a new workspace and fills it.
 *
 * @throws {RangeError} when `maxSnapshots` is no whole number over 0.
 * @throws {TypeError} for what is no provider or no store, such as one that was not opened.
 */
export function portableSnapshots<Config extends { readonly kind: string }>(
  provider: ConfigurableProvider<Config>,
  options: PortableSnapshotsOptions,
): ConfigurableProvider<Config> {
  if (!hasMethod(provider, 'open')) {
    throw new TypeError('portableSnapshots: the first argument must be a workspace provider')
  }
  if (!hasMethod(options?.store, 'getManifest')) {
    throw new TypeError('portableSnapshots: store must be a SnapshotStore')
  }
  const { maxSnapshots = DEFAULT_MAX_SNAPSHOTS } = options
  if (!Number.isInteger(maxSnapshots) || maxSnapshots < 1) {
    throw new RangeError(`maxSnapshots must be a whole number over 0, not ${maxSnapshots}`)
  }
  return new PortableProvider(provider, { ...options, maxSnapshots })
}

/** What a fork is made with. */
interface Target<Config> {
  readonly config: Config
  readonly session: SessionRef
  readonly options: OpenOptions
}

class PortableProvider<
  Config extends { readonly kind: string },
> implements WorkspaceProvider<Config> {
  readonly providerId
  readonly capabilities
  readonly refSchemaVersion
  readonly toolNotes
  readonly history: ProviderHistory
  readonly #provider: ConfigurableProvider<Config>
  readonly #store: SnapshotStore
  readonly #scopeOf: (sessionId: string) => string
  readonly #ignore: readonly string[]
  readonly #maxSnapshots: number
  /** What new workspaces could not hold, until they are resolved. */
  readonly #losses = new Map<string, readonly SnapshotLoss[]>()

  constructor(
    provider: ConfigurableProvider<Config>,
    options: PortableSnapshotsOptions & { readonly maxSnapshots: number },
  ) {
    this.providerId = provider.providerId
    this.capabilities = { ...provider.capabilities, snapshot: true, branch: true }
    this.refSchemaVersion = provider.refSchemaVersion
    this.toolNotes = provider.toolNotes ?? {}
    this.#provider = provider
    this.#store = options.store
    this.#scopeOf = options.scope ?? ((sessionId) => sessionId)
    this.#ignore = options.ignore ?? []
    this.#maxSnapshots = options.maxSnapshots
    this.history = {
      restore: (ref, resolve) => this.#restore(ref, resolve),
      remove: async (ref) => {
        const { scope, snapshotId } = parsePortableRef(ref, this.providerId)
        await this.#store.deleteManifest(scope, snapshotId)
      },
      list: (sessionId) => this.#list(sessionId),
    }
  }

  parseConfig(config: unknown): Config {
    return this.#provider.parseConfig(config)
  }

  async open(config: Config, session: SessionRef, options: OpenOptions): Promise<OpenedWorkspace> {
    const opened = await this.#provider.open(config, session, withoutSnapshot(options))
    return this.#wrap(opened, { config, session, options })
  }

  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    const opened = await this.#provider.resolve(ref, withoutSnapshot(options))
    const lost = this.#losses.get(this.identify(ref)) ?? []
    this.#losses.delete(this.identify(ref))
    const { session } = options
    const wrapped = this.#wrap(opened, { config: this.#configOf(options), session, options })
    if (lost.length === 0) return wrapped
    const detail = [opened.receipt.detail, describeLosses(lost)].filter(Boolean).join(' ')
    return { ...wrapped, receipt: { ...opened.receipt, detail } }
  }

  identify(ref: WorkspaceRef): string {
    return this.#provider.identify?.(ref) ?? JSON.stringify(ref.ref)
  }

  async release(ref: WorkspaceRef, options: ResolveOptions): Promise<void> {
    if (this.#provider.release) return this.#provider.release(ref, withoutSnapshot(options))
    const { ws } = await this.#provider.resolve(ref, withoutSnapshot(options))
    await ws.close()
  }

  #wrap(opened: OpenedWorkspace, target: Target<Config>): OpenedWorkspace {
    const { fs } = opened.ws
    if (fs === undefined) return opened
    const { session, options } = target
    const snapshot = new PortableSnapshotter({
      store: this.#store,
      scope: this.#scopeOf(session.sessionId),
      ignore: this.#ignore,
      maxSnapshots: this.#maxSnapshots,
      providerId: this.providerId,
      workspace: options.workspace,
      workspaceId: opened.ws.id,
      session,
      fs,
      logger: options.logger,
      clock: options.clock,
      fork: (manifest, scope, signal) =>
        this.#fork(manifest, scope, {
          ...target,
          options: { ...options, signal: signal ?? new AbortController().signal },
        }),
    })
    return { ...opened, ws: withSnapshots(opened.ws, snapshot), ref: withFlags(opened.ref) }
  }

  /** A new workspace with the files; one that cannot be filled is closed. */
  async #fork(
    manifest: SnapshotManifest,
    scope: string,
    { config, session, options }: Target<Config>,
  ): Promise<WorkspaceRef> {
    await assertFileSizes(manifest.entries, options.capabilities.fs)
    const opened = await this.#provider.open(config, session, besideOf(options))
    const { ws, ref } = opened
    try {
      if (opened.receipt.outcome !== 'created') throw inUse()
      if (ws.fs === undefined) throw new TypeError('the provider opened a workspace without files')
      const { signal } = options
      const { losses } = await restoreSnapshot(manifest, this.#store, ws.fs, { scope, signal })
      logLosses(options.logger, logMessages.restoreIncomplete, losses)
      const filled = withFlags(ws.changedRef ?? ref)
      if (losses.length > 0) this.#losses.set(this.identify(filled), losses)
      await ws.detach?.()
      return filled
    } catch (error) {
      // A provider that opened a workspace which was there: its files stay.
      const isInUse = SnapshotStoreError.isInstance(error) && error.code === 'target-not-empty'
      await (isInUse ? ws.detach?.() : ws.close())
      throw toWorkspaceError(error)
    }
  }

  async #restore(
    ref: SnapshotRef,
    options: Parameters<ProviderHistory['restore']>[1],
  ): Promise<WorkspaceRef> {
    const payload = parsePortableRef(ref, this.providerId)
    const { session } = options
    if (payload.scope !== this.#scopeOf(session.sessionId)) assertSameSession(options)
    const manifest = await readSnapshot(this.#store, payload)
    if (manifest.header.sessionId !== session.sessionId) assertSameSession(options)
    const config = this.#configOf(options)
    return this.#fork(manifest, payload.scope, { config, session, options })
  }

  async #list(sessionId: string): Promise<HeldBySession> {
    const scope = this.#scopeOf(sessionId)
    const snapshots: SnapshotRef[] = []
    for await (const header of allManifests(this.#store, scope)) {
      const isOwn = header.sessionId === sessionId && header.providerId === this.providerId
      if (!isOwn || header.kept !== true) continue
      snapshots.push(toPortableRef(this.providerId, scope, header.snapshotId))
    }
    const held = await this.#provider.history?.list(sessionId)
    return { snapshots, workspaces: held?.workspaces.map(withFlags) ?? [] }
  }

  #configOf({ config }: ResolveOptions): Config {
    return this.parseConfig(config ?? { kind: this.providerId })
  }
}

function inUse(): SnapshotStoreError {
  const problem = 'the declaration names one workspace: nothing can be restored beside it'
  return new SnapshotStoreError('target-not-empty', problem, {
    hint: 'An operator must remove the fixed id or namespace from the declaration.',
  })
}

/** The provider has its own `snapshot`, or none: this one takes its place. */
function withoutSnapshot<Options extends OpenOptions>(options: Options): Options {
  const { snapshot: _, ...capabilities } = options.capabilities
  return { ...options, capabilities }
}

/** A name of its own: some providers open the workspace again that has the name already. */
function besideOf(options: OpenOptions): OpenOptions {
  const workspace = `${options.workspace}-${crypto.randomUUID()}`
  const { resolvedAs = options.workspace } = options
  return { ...withoutSnapshot(options), workspace, resolvedAs }
}

function withFlags(ref: WorkspaceRef): WorkspaceRef {
  return { ...ref, capabilities: { ...ref.capabilities, snapshot: true, branch: true } }
}

function withSnapshots(ws: Workspace, snapshot: PortableSnapshotter): Workspace {
  const { id, isolation, containment, maxProcesses, shellRoot, fs, shell, code } = ws
  return {
    id,
    isolation,
    ...(containment !== undefined && { containment }),
    ...(maxProcesses !== undefined && { maxProcesses }),
    ...(shellRoot !== undefined && { shellRoot }),
    ...(fs && { fs }),
    ...(shell && { shell }),
    ...(code && { code }),
    ...(ws.detach && { detach: async () => ws.detach?.() }),
    snapshot,
    get changedRef() {
      return ws.changedRef && withFlags(ws.changedRef)
    },
    close: async () => {
      await ws.close()
      await snapshot.end()
    },
  }
}

function describeLosses(losses: readonly SnapshotLoss[]): string {
  const count = (kind: SnapshotLoss['kind']): number =>
    losses.filter((loss) => loss.kind === kind).length
  return `Not restored: ${count('link')} links, permissions of ${count('mode')} files.`
}
