import { HelixError } from '../../errors/helix-error.ts'
import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'
import type { SnapshotRef } from '../../modules/snapshot/contract.ts'
import { withDeadline } from '../../time/deadline.ts'
import type { RestoreReceipt } from '../../workspace/provider.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { RegistryContext } from '../registry-context.ts'
import type { OpenWorkspace, UseOptions } from '../workspace-access.ts'
import { type ChangedBefore, ChangeTracker } from './change-tracker.ts'

/** What the history needs of its entry. */
interface HistoryEntry {
  readonly name: string
  use<T>(operation: (open: OpenWorkspace) => Promise<T>, options: UseOptions): Promise<T>
}

/** The snapshots of a workspace, as operators see them. Times are milliseconds since the epoch. */
export interface SnapshotHealth {
  /** The last one that was taken. */
  readonly lastSnapshotAt?: number
  /** The last one that failed, when none was taken since. */
  readonly snapshotFailedAt?: number
  /** Code of its error. */
  readonly snapshotErrorCode?: string
}

/** Knows when a snapshot of a workspace is due, and takes it. */
export class EntryHistory {
  readonly #entry: HistoryEntry
  readonly #context: RegistryContext
  readonly #before: ChangedBefore
  readonly #tracker = new ChangeTracker()
  #workspace: Workspace | undefined
  #isFirstOpen = true
  #health: SnapshotHealth = {}

  /** @param hasRef whether the session has a backend of it already. */
  constructor(entry: HistoryEntry, context: RegistryContext, hasRef: boolean) {
    this.#entry = entry
    this.#context = context
    this.#before = hasRef ? context.changedBefore(entry.name) : 'unknown'
    if (this.#before === 'yes') this.#tracker.mark()
  }

  get health(): SnapshotHealth {
    return this.#health
  }

  get isDue(): boolean {
    return this.#tracker.hasChanged || this.#tracker.mayRunProcesses
  }

  /** A backend is used from now on. @returns it, with methods that are watched */
  opened(workspace: Workspace, { outcome }: RestoreReceipt): Workspace {
    const isKnown = this.#isFirstOpen && this.#before === 'no' && outcome === 'reattached'
    if (!isKnown) this.#tracker.mark()
    if (outcome === 'reattached' && workspace.shell?.list !== undefined) {
      this.#tracker.expectProcesses()
    }
    this.#isFirstOpen = false
    this.#workspace = workspace
    return this.#tracker.watch(workspace)
  }

  async take(): Promise<SnapshotRef | undefined> {
    const tracker = this.#tracker
    if (this.#workspace !== undefined) await tracker.checkProcesses(this.#workspace)
    if (!tracker.hasChanged) return undefined
    tracker.begin()
    try {
      const taken = await this.#takeInTime()
      this.#health = { lastSnapshotAt: this.#context.clock.now() }
      return taken
    } catch (error) {
      tracker.mark()
      this.#failed(error)
      throw error
    }
  }

  #failed(error: unknown): void {
    const { lastSnapshotAt } = this.#health
    this.#health = {
      ...(lastSnapshotAt !== undefined && { lastSnapshotAt }),
      snapshotFailedAt: this.#context.clock.now(),
      snapshotErrorCode: HelixError.isInstance(error) ? error.code : 'internal',
    }
  }

  #takeInTime(): Promise<SnapshotRef> {
    const { clock, snapshotTimeoutMs: timeoutMs } = this.#context
    const overrun = new AbortController()
    const { signal } = overrun
    const taken = this.#entry.use(({ live }) => snapshotOf(this.#entry.name, live, signal), {
      idempotent: true,
      signal,
    })
    const onTimeout = (): WorkspaceFailedError => {
      const error = new WorkspaceFailedError(
        'provider-failed',
        `the snapshot of workspace "${this.#entry.name}" took longer than ${timeoutMs} ms`,
        { transient: true },
      )
      overrun.abort(error)
      return error
    }
    return withDeadline(taken, { clock, timeoutMs, onTimeout })
  }
}

async function snapshotOf(
  name: string,
  { snapshot }: Workspace,
  signal: AbortSignal,
): Promise<SnapshotRef> {
  if (snapshot === undefined) {
    throw new WorkspaceFailedError('capability-missing', `workspace ${name} takes no snapshots`)
  }
  return snapshot.snapshot({ keep: true, signal })
}
