import {
  type Clock,
  type Logger,
  noopLogger,
  systemClock,
  WorkspaceFailedError,
} from '@helix-agents/core'
import {
  type CodeEngine,
  createOpenLimit,
  type OpenedWorkspace,
  type OpenLimit,
  type OpenOptions,
  type ProviderHistory,
  type ResolveOptions,
  type SessionRef,
  type ShellEngine,
  type ToolNotes,
  type WorkspaceCapabilityFlags,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { FileStoreBatch } from './batch/file-store-batch.ts'
import { type CollectionReport, Collector } from './objects/collector.ts'
import { type CloudflareFileStoreConfig, FILE_STORE_KIND, parseFileStoreConfig } from './config.ts'
import { FileStoreFileSystem } from './file-store-file-system.ts'
import {
  deleteNamespace,
  finishRemoval,
  unfinishedRemovals,
} from './namespaces/delete-namespace.ts'
import { namespaceOwner } from './namespaces/namespace-key.ts'
import {
  allNamespaces,
  belongsTo,
  claimFork,
  findNamespace,
  isSnapshot,
  type Namespace,
  openNamespace,
  sessionMark,
} from './namespaces/namespaces.ts'
import { ObjectStore } from './objects/object-store.ts'
import {
  type CloudflareFileStoreProviderOptions,
  type FileStoreSettings,
  readSettings,
} from './provider-options.ts'
import { createRef, readRef, REF_SCHEMA_VERSION } from './ref.ts'
import { migrate } from './sql/migrate.ts'
import { Database, lost } from './sql/database.ts'
import type { FileStoreBucket } from './ports.ts'
import { type SharedState, sharedStateOf } from './shared-state.ts'
import type { StoreContext } from './store-context.ts'
import { deleteLine, FileStoreSnapshotter } from './snapshots/file-store-snapshotter.ts'
import { FileStoreHistory } from './snapshots/file-store-history.ts'
import { FileStoreWorkspace } from './workspace.ts'

const MEGABYTE = 1024 * 1024

/** How a handle on a namespace is made. */
interface Attach {
  readonly options: OpenOptions
  readonly outcome: 'created' | 'reattached'
  readonly sessionId: string
}

/**
 * Workspaces in the SQLite database of the agent's own Durable Object, large files in R2. They
 * survive the eviction of the object; `close()` removes them, `detach()` keeps them.
 *
 * The object has one alarm, which its host owns: call `collect()` at `nextCollectionAt()`, or pass
 * `scheduleCollection`.
 */
export class CloudflareFileStoreWorkspaceProvider implements WorkspaceProvider<CloudflareFileStoreConfig> {
  readonly providerId = FILE_STORE_KIND
  readonly capabilities: WorkspaceCapabilityFlags
  readonly toolNotes: ToolNotes
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly history: ProviderHistory
  readonly #database: Database
  readonly #bucket: FileStoreBucket | undefined
  readonly #shared: SharedState
  readonly #settings: FileStoreSettings
  readonly #collector: Collector
  readonly #openLimit: OpenLimit
  readonly #shell: ShellEngine | undefined
  readonly #code: CodeEngine | undefined
  readonly #schedule: ((atMs: number) => void) | undefined
  readonly #clock: Clock
  readonly #logger: Logger

  /** @throws {WorkspaceFailedError} `config-invalid`, naming the option. */
  constructor(options: CloudflareFileStoreProviderOptions) {
    this.#database = new Database(options.storage)
    this.#bucket = options.r2
    this.#shared = sharedStateOf(options.storage)
    this.#settings = readSettings(options)
    this.#shell = options.shell
    this.#code = options.code
    this.toolNotes = {
      ...(options.shell !== undefined && { shell: options.shell.toolNote }),
      ...(options.code !== undefined && { code: options.code.toolNote }),
    }
    this.capabilities = {
      fs: true,
      snapshot: true,
      branch: true,
      ...(options.shell !== undefined && { shell: true }),
      ...(options.code !== undefined && { code: true }),
    }
    this.#openLimit = createOpenLimit(options.maxGlobalConcurrentOpens)
    this.#schedule = options.scheduleCollection
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? noopLogger
    this.#collector = new Collector({
      database: this.#database,
      bucket: options.r2,
      shared: this.#shared,
      graceMs: this.#settings.collectionGraceMs,
      logger: this.#logger,
    })
    this.history = this.#createHistory()
  }

  /** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
  parseConfig(config: unknown): CloudflareFileStoreConfig {
    return parseFileStoreConfig(config)
  }

  /**
   * Makes the files of a session's workspace, or those that sessions share; finds them when they
   * are there.
   * @throws {WorkspaceFailedError} `sharing-not-declared` for a namespace that is not declared to
   * be shared; `config-invalid` when the files are partly in a bucket and there is none.
   */
  open(
    config: CloudflareFileStoreConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    return this.#openLimit(async () => {
      const parsed = parseFileStoreConfig(config)
      const owner = namespaceOwner(parsed, session.sessionId, options.workspace)
      migrate(this.#database, this.#clock.now())
      const { namespace, isNew } = openNamespace(this.#database, owner, this.#clock.now())
      const outcome = isNew ? 'created' : 'reattached'
      return this.#attach(namespace, { options, outcome, sessionId: session.sessionId })
    }, options.signal)
  }

  /**
   * Attaches to files that were not removed.
   * @throws {WorkspaceFailedError} `ref-invalid`, also for files of another session; `ref-version`.
   * @throws {WorkspaceEvictedError} `lost` when they were removed.
   */
  resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    return this.#openLimit(async () => {
      const id = readRef(ref)
      migrate(this.#database, this.#clock.now())
      const { sessionId } = options.session
      const found = findNamespace(this.#database, id)
      if (found === undefined || isSnapshot(found)) throw lost()
      const isFork = found.kind === 'fork'
      const namespace = isFork ? claimFork(this.#database, found, sessionId) : found
      if (!belongsTo(namespace, sessionId)) {
        throw new WorkspaceFailedError('ref-invalid', 'the stored ref is of another session')
      }
      return this.#attach(namespace, { options, outcome: 'reattached', sessionId })
    }, options.signal)
  }

  /** Removes the files of one ref; others of its session and its snapshots stay. */
  async release(ref: WorkspaceRef, { session }: ResolveOptions): Promise<void> {
    const id = readRef(ref)
    migrate(this.#database, this.#clock.now())
    const found = findNamespace(this.#database, id)
    if (found?.session !== sessionMark(session.sessionId) || isSnapshot(found)) return
    await deleteNamespace(this.#contextOf(found, Infinity))
  }

  /** When `collect` has work, in ms since the epoch. Undefined: there is none. */
  nextCollectionAt(): number | undefined {
    migrate(this.#database, this.#clock.now())
    return this.#collector.nextAt(this.#clock.now())
  }

  /**
   * Removes what no file refers to any more, in the database and in the bucket, and finishes removals
   * that a crash cut short. A bucket that fails does not reject: the next collection retries. Call it
   * from the alarm of the object.
   * @param nowMs ms since the epoch. Default: now.
   */
  async collect(nowMs: number = this.#clock.now()): Promise<CollectionReport> {
    migrate(this.#database, nowMs)
    await this.#finishRemovals()
    return this.#collector.collect(nowMs)
  }

  /**
   * Removes the files of every session and every shared namespace of the object; open handles are
   * `lost`. What they have in the bucket is left to `collect`. Call both before emptying the storage
   * of the object, which holds the only list of its objects in the bucket.
   */
  async deleteNamespaces(): Promise<void> {
    migrate(this.#database, this.#clock.now())
    for (const namespace of allNamespaces(this.#database)) {
      await deleteNamespace(this.#contextOf(namespace, Infinity))
    }
    await this.#finishRemovals()
  }

  async #finishRemovals(): Promise<void> {
    for (const id of unfinishedRemovals(this.#database)) {
      const removed = { publicId: '', line: '', session: undefined, createdMs: 0 }
      const namespace = { ...removed, id, kind: 'workspace' } as const
      await finishRemoval(this.#contextOf(namespace, Infinity))
    }
  }

  #createHistory(): FileStoreHistory {
    return new FileStoreHistory({
      database: this.#database,
      maxSnapshots: this.#settings.maxSnapshots,
      contextOf: (namespace) => this.#contextOf(namespace, Infinity),
      toRef: (publicId) => createRef(publicId, this.capabilities),
      now: () => this.#clock.now(),
    })
  }

  #attach(namespace: Namespace, attach: Attach): OpenedWorkspace {
    const { options, outcome, sessionId } = attach
    const maxFileMb = options.capabilities.fs?.maxFileSizeMb ?? Infinity
    const context = this.#contextOf(namespace, Math.floor(maxFileMb * MEGABYTE))
    this.#assertBucket(namespace)
    const fs = new FileStoreFileSystem(context)
    const isShared = namespace.session === undefined
    const contextOf = (other: Namespace): StoreContext => this.#contextOf(other, Infinity)
    const end = async (): Promise<void> => {
      if (!isShared) await deleteLine(context, contextOf)
    }
    const id = namespace.publicId
    const { clock, logger } = options
    const startBatch = (): FileStoreBatch => new FileStoreBatch({ fs, context, clock })
    const shell = this.#shell?.open({ files: fs, startBatch, clock, logger })
    const code = this.#code?.open({ files: fs, clock, logger })
    const { maxSnapshots } = this.#settings
    const session = sessionMark(sessionId)
    const snapshot = new FileStoreSnapshotter({
      context,
      session,
      maxSnapshots,
      contextOf,
      toRef: (publicId) => createRef(publicId, this.capabilities),
    })
    const engines = { ...(shell && { shell }), ...(code && { code }) }
    const ws = new FileStoreWorkspace({ id, fs, snapshot, ...engines, end })
    return { ws, ref: createRef(id, this.capabilities), receipt: { outcome } }
  }

  #contextOf(namespace: Namespace, maxFileBytes: number): StoreContext {
    const { maxBytes, maxFiles, maxWholeReadBytes, collectionGraceMs } = this.#settings
    return {
      database: this.#database,
      namespace,
      limits: { maxBytes, maxFiles, maxFileBytes, maxWholeReadBytes },
      shared: this.#shared,
      objects: this.#objectsOf(namespace),
      inlineThresholdBytes: this.#settings.inlineThresholdBytes,
      partBytes: this.#settings.partBytes,
      collectionGraceMs,
      logger: this.#logger,
      now: () => this.#clock.now(),
      onGarbage: () => this.#scheduleNext(),
    }
  }

  #objectsOf(namespace: Namespace): ObjectStore | undefined {
    if (this.#bucket === undefined) return undefined
    return new ObjectStore({
      database: this.#database,
      bucket: this.#bucket,
      shared: this.#shared,
      prefix: this.#settings.r2Prefix,
      namespace: namespace.publicId,
      graceMs: this.#settings.collectionGraceMs,
      now: () => this.#clock.now(),
      onGarbage: () => this.#scheduleNext(),
    })
  }

  /** Rejects a missing bucket: files whose content is out of reach are not empty files. */
  #assertBucket(namespace: Namespace): void {
    if (this.#bucket !== undefined) return
    const object = this.#database.get(
      'SELECT id FROM helix_fs_objects WHERE namespace = ? AND refs > 0 LIMIT 1',
      namespace.publicId,
    )
    if (object === undefined) return
    throw new WorkspaceFailedError(
      'config-invalid',
      'files of this workspace are in a bucket, and the provider has none',
      { hint: 'An operator must pass the bucket as r2 to the provider.' },
    )
  }

  #scheduleNext(): void {
    this.#schedule?.(this.#clock.now() + this.#settings.collectionGraceMs)
  }
}
