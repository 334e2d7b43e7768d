import { type Logger, noopLogger, WorkspaceEvictedError } from '@helix-agents/core'
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
import { IN_MEMORY_KIND, type InMemoryWorkspaceConfig, parseInMemoryConfig } from './config.ts'
import { type FilesImage, InMemoryFileSystem } from './in-memory-file-system.ts'
import { createRef, readRef, REF_SCHEMA_VERSION } from './ref.ts'
import {
  InMemorySnapshotter,
  parseSnapshotId,
  type Snapshot,
  SnapshotLine,
  type SnapshotterParts,
  toSnapshotRef,
  usable,
} from './snapshots.ts'
import { InMemoryWorkspace } from './workspace.ts'

/** How an {@link InMemoryWorkspaceProvider} is set up. */
export interface InMemoryProviderOptions {
  /** Default: drops every line. */
  readonly logger?: Logger
  /** Ids are only counted, `inmem-1`, without the random part. For tests. Default false. */
  readonly deterministicIds?: boolean
  /** Most that one workspace may hold, in megabytes of 1,048,576 bytes. Default 512. */
  readonly maxTotalMb?: number
  /** Bound of concurrent opens over all sessions; the others wait in turn. Default: none. */
  readonly maxGlobalConcurrentOpens?: number
  /** Runs commands over the files, and makes the provider offer `shell`. Default: none. */
  readonly shell?: ShellEngine
  /** Runs code over the files, and makes the provider offer `code`. Default: none. */
  readonly code?: CodeEngine
}

/** A workspace that is still in memory. */
interface Entry {
  readonly fs: InMemoryFileSystem
  readonly maxTotalMb: number
  /** The session that uses it; none has a fork that was not resolved yet. */
  sessionId: string | undefined
  readonly line: Line
}

/** A snapshot, and the workspaces that it is of. */
interface StoredSnapshot extends Snapshot {
  readonly line: Line
  readonly maxTotalMb: number
}

/** A workspace that was opened, and those that were restored from it. */
interface Line {
  readonly snapshots: SnapshotLine
  readonly members: Map<string, Entry>
}

const MEGABYTE = 1024 * 1024
const DEFAULT_MAX_TOTAL_MB = 512
/** Without an engine. */
const OWN_CAPABILITIES = { fs: true, snapshot: true, branch: true } as const

/**
 * Workspaces in the memory of this process, for tests and short-lived agents. Nothing is
 * persisted: a detached workspace can be resolved again by the same provider object only.
 */
export class InMemoryWorkspaceProvider implements WorkspaceProvider<InMemoryWorkspaceConfig> {
  readonly providerId = IN_MEMORY_KIND
  readonly capabilities: WorkspaceCapabilityFlags
  readonly toolNotes: ToolNotes
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly history: ProviderHistory = this.#createHistory()
  readonly #entries = new Map<string, Entry>()
  readonly #snapshots = new Map<string, StoredSnapshot>()
  readonly #logger: Logger
  readonly #deterministicIds: boolean
  readonly #maxTotalMb: number
  readonly #openLimit: OpenLimit
  readonly #shell: ShellEngine | undefined
  readonly #code: CodeEngine | undefined
  #made = 0

  constructor(options: InMemoryProviderOptions = {}) {
    this.#shell = options.shell
    this.#code = options.code
    this.toolNotes = {
      ...(options.shell !== undefined && { shell: options.shell.toolNote }),
      ...(options.code !== undefined && { code: options.code.toolNote }),
    }
    this.capabilities = {
      ...OWN_CAPABILITIES,
      ...(options.shell !== undefined && { shell: true }),
      ...(options.code !== undefined && { code: true }),
    }
    this.#logger = options.logger ?? noopLogger
    this.#deterministicIds = options.deterministicIds ?? false
    this.#maxTotalMb = options.maxTotalMb ?? DEFAULT_MAX_TOTAL_MB
    this.#openLimit = createOpenLimit(options.maxGlobalConcurrentOpens)
  }

  /** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
  parseConfig(config: unknown): InMemoryWorkspaceConfig {
    return parseInMemoryConfig(config)
  }

  /** Makes an empty workspace; no I/O. */
  open(
    config: InMemoryWorkspaceConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    return this.#openLimit(async () => {
      const { maxTotalMb = this.#maxTotalMb } = parseInMemoryConfig(config)
      const limitMb = Math.min(maxTotalMb, this.#maxTotalMb)
      const snapshots = new SnapshotLine(Math.floor(limitMb * MEGABYTE))
      const [id, entry] = this.#add({ snapshots, members: new Map() }, limitMb)
      entry.sessionId = session.sessionId
      this.#logger.debug({ id, sessionId: session.sessionId }, 'in-memory workspace opened')
      return this.#attach(id, entry, { options, outcome: 'created' })
    }, options.signal)
  }

  /**
   * Attaches to a workspace of this provider object that was not closed.
   * @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`.
   * @throws {WorkspaceEvictedError} `lost` for every other one.
   */
  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    options.signal.throwIfAborted()
    const id = readRef(ref)
    const entry = this.#entries.get(id)
    if (entry !== undefined) {
      entry.sessionId = options.session.sessionId
      return this.#attach(id, entry, { options, outcome: 'reattached' })
    }
    throw new WorkspaceEvictedError(
      'the in-memory workspace is gone: its process ended or it was closed',
      {
        code: 'lost',
        admitted: 'no',
      },
    )
  }

  /** Frees one workspace; others of its session and its snapshots stay. */
  async release(ref: WorkspaceRef): Promise<void> {
    const id = readRef(ref)
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.fs.discard()
    entry.line.members.delete(id)
    this.#entries.delete(id)
    this.#dropSnapshots(entry.line)
  }

  #createHistory(): ProviderHistory {
    return {
      restore: async (ref, { session: { sessionId }, signal, allowCrossSession = false }) => {
        signal.throwIfAborted()
        const found = this.#snapshots.get(parseSnapshotId(ref))
        const { line, maxTotalMb, image } = usable(found, sessionId, { allowCrossSession })
        const [id, entry] = this.#add(line, maxTotalMb, image)
        entry.sessionId = sessionId
        return createRef(id, this.capabilities)
      },
      remove: async (ref) => {
        this.#snapshots.delete(parseSnapshotId(ref))
      },
      list: async (sessionId) => ({
        snapshots: [...this.#snapshots.values()]
          .filter((one) => one.isKept && one.sessionId === sessionId)
          .map(({ id }) => toSnapshotRef(id)),
        workspaces: [...this.#entries]
          .filter(([, entry]) => entry.sessionId === sessionId)
          .map(([id]) => createRef(id, this.capabilities)),
      }),
    }
  }

  #attach(
    id: string,
    entry: Entry,
    attach: { readonly options: OpenOptions; readonly outcome: 'created' | 'reattached' },
  ): OpenedWorkspace {
    const maxFileMb = attach.options.capabilities.fs?.maxFileSizeMb
    entry.fs.limit({
      maxTotalBytes: Math.floor(entry.maxTotalMb * MEGABYTE),
      ...(maxFileMb !== undefined && { maxFileBytes: Math.floor(maxFileMb * MEGABYTE) }),
    })
    const snapshot = new InMemorySnapshotter(this.#snapshotsOf(entry))
    const { clock, logger } = attach.options
    const shell = this.#shell?.open({ files: entry.fs, clock, logger })
    const code = this.#code?.open({ files: entry.fs, clock, logger })
    const end = (): void => this.#close(id)
    const engines = { ...(shell && { shell }), ...(code && { code }) }
    const ws = new InMemoryWorkspace(id, { fs: entry.fs, snapshot, ...engines, end })
    const ref = createRef(id, this.capabilities)
    return { ws, ref, receipt: { outcome: attach.outcome } }
  }

  #add(line: Line, maxTotalMb: number, image?: FilesImage): [string, Entry] {
    const id = this.#nextId('inmem', 6)
    const fs = new InMemoryFileSystem({
      versionPrefix: `${id}.`,
      ...(image !== undefined && { image }),
    })
    const entry: Entry = { fs, maxTotalMb, sessionId: undefined, line }
    this.#entries.set(id, entry)
    line.members.set(id, entry)
    return [id, entry]
  }

  #snapshotsOf({ fs, line, maxTotalMb, sessionId = '' }: Entry): SnapshotterParts {
    return {
      sessionId,
      take: (isKept) => {
        const owner = { id: this.#nextId('inmem-snapshot', 16), sessionId, isKept }
        const { taken, dropped } = line.snapshots.take(fs, owner)
        this.#snapshots.set(taken.id, { ...taken, line, maxTotalMb })
        for (const { id } of dropped) this.#snapshots.delete(id)
        return taken
      },
      find: (id) => this.#snapshots.get(id),
      fork: ({ image }) => createRef(this.#add(line, maxTotalMb, image)[0], this.capabilities),
    }
  }

  /** Frees the files, and those of workspaces that the session has left for a restored one. */
  #close(id: string): void {
    const closed = this.#entries.get(id)
    if (closed === undefined) return
    const { line, sessionId } = closed
    for (const [memberId, member] of line.members) {
      if (memberId !== id && (sessionId === undefined || member.sessionId !== sessionId)) continue
      member.fs.discard()
      line.members.delete(memberId)
      this.#entries.delete(memberId)
      this.#logger.debug({ id: memberId }, 'in-memory workspace closed')
    }
    this.#dropSnapshots(line)
  }

  /** Those that no history keeps, once no workspace is left that could restore them. */
  #dropSnapshots({ members, snapshots }: Line): void {
    if (members.size > 0) return
    for (const snapshot of snapshots.all) this.#snapshots.delete(snapshot.id)
  }

  #nextId(kind: string, randomBytes: number): string {
    this.#made += 1
    const counted = `${kind}-${this.#made}`
    return this.#deterministicIds ? counted : `${counted}-${randomHex(randomBytes)}`
  }
}

function randomHex(byteCount: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(byteCount))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
