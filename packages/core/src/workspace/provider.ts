import type { Logger } from '../logging/logger.ts'
import type { Capabilities, ToolNotes, WorkspaceCapabilityFlags } from '../modules/list.ts'
import type { Clock } from '../time/clock.ts'
import type { SnapshotOptions, SnapshotRef } from '../modules/snapshot/contract.ts'
import type { WorkspaceRef } from './ref.ts'
import type { Workspace } from './workspace.ts'

/** Whose workspace it is. */
export interface SessionRef {
  readonly sessionId: string
  /** Name of the agent. */
  readonly agentType: string
}

/** What an open brought back: `cold` means that earlier files are gone. */
export interface RestoreReceipt {
  readonly outcome: 'created' | 'reattached' | 'restored' | 'cold'
  /** One sentence for the model: what was lost or restored. */
  readonly detail?: string
}

/** A workspace that a provider has opened, and what is needed to open it again. */
export interface OpenedWorkspace {
  readonly ws: Workspace
  /** Persisted before the first operation runs. */
  readonly ref: WorkspaceRef
  readonly receipt: RestoreReceipt
}

/** What a provider gets beside the ref when it opens a workspace again. */
export interface ResolveOptions {
  /** Name under which the agent declares the workspace. */
  readonly workspace: string
  /**
   * Name under which the session will resolve what is made now, when that is made beside the workspace it
   * has and `workspace` is a name of its own. Default: `workspace`.
   */
  readonly resolvedAs?: string
  /**
   * Awaited with the ref of what is about to be made beside the workspace, before anything is there, by a
   * provider that cannot list what a session has. `release` of that ref frees what a process that
   * died has made.
   */
  readonly onMaking?: (ref: WorkspaceRef) => Promise<void>
  readonly session: SessionRef
  /** What the agent declares now under `provider`, for what is too secret or too new for a ref. */
  readonly config?: { readonly kind: string }
  readonly capabilities: Capabilities
  /** Aborts when no caller needs the result. A slow provider must honour it. */
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly clock: Clock
}

/** What a provider gets beside its own config when it makes a workspace. */
export type OpenOptions = Omit<ResolveOptions, 'session' | 'config'>

/** What a provider holds for one session. */
export interface HeldBySession {
  /** Snapshots that were taken with `keep`. */
  readonly snapshots: readonly SnapshotRef[]
  /** Its backends: the one in use, and those that it has left. */
  readonly workspaces: readonly WorkspaceRef[]
}

/** The kept snapshots of a provider, for callers without an open workspace. */
export interface ProviderHistory {
  /**
   * Makes a workspace with the files of a snapshot; it belongs to `options.session` from the start.
   * @throws {WorkspaceFailedError} `provider-failed` for a snapshot that is missing or damaged.
   */
  restore(
    ref: SnapshotRef,
    options: ResolveOptions & Pick<SnapshotOptions, 'allowCrossSession'>,
  ): Promise<WorkspaceRef>
  /** Frees a kept snapshot. One that is gone is no error. */
  remove(ref: SnapshotRef): Promise<void>
  /** What is there for a session, also what a process that died has left. */
  list(sessionId: string): Promise<HeldBySession>
  /**
   * The snapshot from which the backend of a ref comes back when it is lost: a collection leaves it while
   * the session or a checkpoint of it has the ref. Default: none.
   */
  neededBy?(ref: WorkspaceRef, sessionId: string): Promise<SnapshotRef | undefined>
}

/** Backs workspaces of one kind. */
export interface WorkspaceProvider<TConfig extends { readonly kind: string } = { kind: string }> {
  /** Equals `provider.kind` of the declaration and the key in the executor's map. */
  readonly providerId: string
  /** What it can offer at all. */
  readonly capabilities: WorkspaceCapabilityFlags
  /** Added to the description of the first tool of a module. Default: nothing. */
  readonly toolNotes?: ToolNotes
  /** Version of the refs it writes. */
  readonly refSchemaVersion: number
  /**
   * Checks a declared config before any backend is made.
   * @throws {WorkspaceFailedError} `config-invalid`, naming each bad field.
   */
  parseConfig?(config: unknown): TConfig
  /**
   * Makes a new workspace.
   * @throws {WorkspaceFailedError} `transient` only when a retry can help.
   */
  open(config: TConfig, session: SessionRef, options: OpenOptions): Promise<OpenedWorkspace>
  /**
   * Attaches to an existing workspace again.
   * @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`.
   * @throws {WorkspaceEvictedError} `lost` when it is gone for good.
   */
  resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace>
  /** Names the backend of a ref: equal for all refs of one. Default: the JSON of its `ref`. */
  identify?(ref: WorkspaceRef): string
  /**
   * Frees one backend and nothing else of its session. One that is gone is no error. Default: it is
   * resolved and closed.
   */
  release?(ref: WorkspaceRef, options: ResolveOptions): Promise<void>
  /** Absent: a history needs an open workspace to go back, and its snapshots are not freed. */
  readonly history?: ProviderHistory
  /** Why `history` cannot be declared with a config, in a few words. Default: it can. */
  noHistory?(config: TConfig): string | undefined
}
