import { SnapshotStoreError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  HeldBySession,
  ProviderHistory,
  ResolveOptions,
  SnapshotOptions,
  SnapshotRef,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import type { LocalBashConfig, LocalBashIsolation } from '../config.ts'
import { hashSession, isOwnerAlive, isOwnerElsewhere } from '../owner.ts'
import { parseRef, toRef } from '../ref.ts'
import { endTree } from '../shell/processes/process-tree.ts'
import { removeDirectory, workspacesIn } from '../workspace-directory.ts'
import type { LocalSnapshots } from './local-snapshots.ts'
import { parseSnapshotRef } from './snapshot-ref.ts'

/** What a history needs of its provider. */
export interface LocalHistoryParts {
  readonly tmpdirRoot: string
  readonly snapshots: LocalSnapshots
  parseConfig(config: unknown): LocalBashConfig
  isolationOf(config: LocalBashConfig): LocalBashIsolation
}

/** Kept snapshots and left workspaces, for callers without an open workspace. */
export class LocalHistory implements ProviderHistory {
  readonly #parts: LocalHistoryParts

  constructor(parts: LocalHistoryParts) {
    this.#parts = parts
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`, `provider-failed`.
   * @throws {PolicyError} `cross-session`
   */
  async restore(
    ref: SnapshotRef,
    options: ResolveOptions & Pick<SnapshotOptions, 'allowCrossSession'>,
  ): Promise<WorkspaceRef> {
    options.signal.throwIfAborted()
    const { snapshots } = this.#parts
    const config = this.#parts.parseConfig(options.config)
    const isolation = this.#parts.isolationOf(config)
    const { sessionId } = options.session
    try {
      const source = await snapshots.find(ref, { ...options, sessionId })
      const { directory } = await snapshots.fork(source, {
        session: hashSession(sessionId),
        line: source.scope,
        env: config.env ?? {},
        isolation,
      })
      return toRef({ directory: directory.name, isolation })
    } catch (cause) {
      if (!SnapshotStoreError.isInstance(cause)) throw cause
      throw new WorkspaceFailedError('provider-failed', cause.message, { cause })
    }
  }

  /** @throws {WorkspaceFailedError} `ref-invalid` */
  async remove(ref: SnapshotRef): Promise<void> {
    const { line, id } = parseSnapshotRef(ref)
    await this.#parts.snapshots.remove(line, id)
  }

  async list(sessionId: string): Promise<HeldBySession> {
    const { tmpdirRoot, snapshots } = this.#parts
    const session = hashSession(sessionId)
    const own = workspacesIn(tmpdirRoot).filter(({ marker }) => marker.session === session)
    const workspaces = own.map(({ directory, marker }) =>
      // Whoever resolves one of an older release gets no less isolation than it had.
      toRef({ directory: directory.name, isolation: marker.isolation ?? 'bubblewrap' }),
    )
    return { snapshots: await snapshots.keptOf(sessionId), workspaces }
  }

  /**
   * Removes one workspace; others of its session and its kept snapshots stay.
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` while another process uses it.
   */
  async release(ref: WorkspaceRef, { session }: ResolveOptions): Promise<void> {
    const { tmpdirRoot, snapshots } = this.#parts
    const { directory: name } = parseRef(ref)
    const found = workspacesIn(tmpdirRoot).find(({ directory }) => directory.name === name)
    if (found === undefined) return
    const { directory, marker } = found
    if (marker.session !== undefined && marker.session !== hashSession(session.sessionId)) {
      throw new WorkspaceFailedError('ref-invalid', 'the ref is of another session')
    }
    const isOwn = marker.process?.pid === process.pid
    if (!isOwn && (isOwnerAlive(marker) || isOwnerElsewhere(marker))) {
      const problem = 'another process uses the workspace'
      throw new WorkspaceFailedError('provider-failed', problem, { transient: true })
    }
    await endTree({ marker: `${name}:`, places: [`${directory.scratch}/`] }, 0)
    await removeDirectory(directory.path)
    await snapshots.releaseLine(marker.line)
  }
}
