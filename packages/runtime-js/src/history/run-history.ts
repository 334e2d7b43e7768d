import { HelixError } from '@helix-agents/core'
import {
  logMessages,
  type ResolveOptions,
  type SnapshotRef,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type {
  CheckpointSnapshot,
  SessionHistory,
  SessionState,
  StoredSnapshot,
  WorkspaceDeclaration,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import { observeHistory } from '../observe/history.ts'
import type { RunHistory, RunServices, StepFiles } from '../ports.ts'
import { declarationOfRef } from '../session/end-refs.ts'
import { Making } from './making.ts'
import { historyOf, removeSnapshot, resolveOptions } from './provider-history.ts'

type KeptSnapshot = StoredSnapshot & { readonly files: { readonly snapshot: SnapshotRef } }

interface RunHistoryParts {
  readonly services: RunServices
  readonly session: Pick<SessionState, 'sessionId' | 'agentType' | 'workspaceRefs' | 'stepCount'>
  readonly declared: Readonly<Record<string, WorkspaceDeclaration>>
  /** Absent for a session that has none yet. */
  readonly stored: SessionHistory | undefined
  /** An earlier run has left a step unfinished: its files may have changed since the last commit. */
  readonly isCutOff: boolean
}

class SnapshotHistory implements RunHistory {
  readonly #parts: RunHistoryParts
  /** Snapshots that can be restored, by workspace, the oldest first. */
  readonly #kept = new Map<string, KeptSnapshot[]>()

  constructor(parts: RunHistoryParts) {
    this.#parts = parts
    for (const one of parts.stored?.snapshots ?? [])
      if (isKept(one)) this.#keptOf(one.workspace).push(one)
  }

  readonly changedBefore: RunHistory['changedBefore'] = (name) => {
    const { isCutOff, stored } = this.#parts
    if (isCutOff || stored?.changed.includes(name) === true) return 'yes'
    const newest = stored?.snapshots.findLast(({ workspace }) => workspace === name)
    const { snapshot } = newest?.files ?? {}
    const ref = this.#parts.session.workspaceRefs[name]
    // What was moved since has no snapshot where it is now.
    return snapshot === undefined || snapshot.providerId !== ref?.providerId ? 'unknown' : 'no'
  }

  readonly restoreLost: RunHistory['restoreLost'] = async (name, signal) => {
    const { services, session, declared } = this.#parts
    const newest = this.#keptOf(name).at(-1)
    const ref = session.workspaceRefs[name]
    const own = declared[name]
    if (newest === undefined || own === undefined) return undefined
    const declaration = ref === undefined ? own : declarationOfRef(own, ref)
    const { snapshot } = newest.files
    // What was moved since has no snapshot where it is now.
    if (snapshot.providerId !== declaration.provider.kind) return undefined
    const onMaking = new Making(services, session).of(name)
    const options = { ...resolveOptions(services, { session, declaration }), signal, onMaking }
    const made = await restoreUnlessGone(services, snapshot, options)
    const detail = `Its files are those after step ${newest.stepCount} of ${session.stepCount}.`
    return made && { ref: made, detail }
  }

  async take(registry: WorkspaceRegistry, stepCount: number): Promise<StepFiles> {
    const due = registry.snapshotsDue()
    if (due.length === 0) return {}
    const taken: Record<string, CheckpointSnapshot> = {}
    const attempts = due.map(async (name) => {
      const files = await this.#takeOne(registry, name)
      if (files !== undefined) taken[name] = files
    })
    await Promise.all(attempts)
    if (Object.keys(taken).length === 0) return {}
    const evictBefore = this.#evictionsFor(taken, stepCount)
    return { workspaceSnapshots: taken, ...(evictBefore !== undefined && { evictBefore }) }
  }

  async committed(files: StepFiles, at: { stepCount: number; now: number }): Promise<void> {
    for (const [workspace, one] of Object.entries(files.workspaceSnapshots ?? {})) {
      const stored = { workspace, stepCount: at.stepCount, files: one, createdAt: at.now }
      if (isKept(stored)) this.#keptOf(workspace).push(stored)
    }
    for (const [workspace, step] of Object.entries(files.evictBefore ?? {})) {
      const kept = this.#keptOf(workspace)
      const evicted = kept.filter(({ stepCount }) => stepCount < step)
      this.#kept.set(workspace, kept.slice(evicted.length))
      for (const one of evicted) await removeSnapshot(this.#parts.services, one.files.snapshot)
    }
  }

  #keptOf(workspace: string): KeptSnapshot[] {
    const found = this.#kept.get(workspace)
    if (found !== undefined) return found
    const made: KeptSnapshot[] = []
    this.#kept.set(workspace, made)
    return made
  }

  async #takeOne(
    registry: WorkspaceRegistry,
    workspace: string,
  ): Promise<CheckpointSnapshot | undefined> {
    const { services, session } = this.#parts
    const subject = {
      workspace,
      providerId: registry.providerId(workspace),
      sessionId: session.sessionId,
    }
    try {
      const take = () => registry.takeSnapshot(workspace)
      const snapshot = await observeHistory(services, 'take', subject, take)
      return snapshot === undefined ? undefined : { snapshot }
    } catch (err) {
      const { sessionId } = session
      const fields = { ...subject, err }
      services.rateLimitedLogger.warnRateLimited(
        `${sessionId} ${workspace}`,
        logMessages.historySnapshotFailed,
        fields,
      )
      return { missing: 'failed' }
    }
  }

  /** Steps before which snapshots are over a limit; the newest of a workspace always stays. */
  #evictionsFor(
    taken: Readonly<Record<string, CheckpointSnapshot>>,
    stepCount: number,
  ): StepFiles['evictBefore'] {
    const now = this.#parts.services.clock.now()
    const limits = Object.entries(taken).flatMap(([name, { snapshot }]) => {
      const policy = this.#parts.declared[name]?.history
      if (policy === undefined || snapshot === undefined) return []
      const { keep, maxAgeMs = Infinity } = policy
      const kept = this.#keptOf(name)
      const over = Math.max(0, kept.length + 1 - keep)
      const aged = kept.filter(({ createdAt }) => now - createdAt > maxAgeMs).length
      const count = Math.max(over, aged)
      return count === 0 ? [] : [[name, kept[count]?.stepCount ?? stepCount] as const]
    })
    return limits.length === 0 ? undefined : Object.fromEntries(limits)
  }
}

/** One that is damaged or not kept any more is logged: the workspace begins anew. */
async function restoreUnlessGone(
  services: RunServices,
  snapshot: SnapshotRef,
  options: ResolveOptions,
): Promise<WorkspaceRef | undefined> {
  try {
    return await historyOf(services, snapshot.providerId)?.restore(snapshot, options)
  } catch (err) {
    const isPassing = HelixError.isInstance(err) && err.transient
    if (isPassing || options.signal.aborted) throw err
    const { workspace, session } = options
    const fields = { workspace, providerId: snapshot.providerId, sessionId: session.sessionId, err }
    services.logger.warn(fields, logMessages.historyNotRestored)
    return undefined
  }
}

function isKept(one: StoredSnapshot): one is KeptSnapshot {
  return one.files.snapshot !== undefined
}

/** A history, and whether an earlier run may have left something to collect. */
export interface LoadedHistory {
  readonly history: RunHistory
  readonly hasLeftovers: boolean
}

/** The history of a run; undefined when its agent declares none. */
export async function loadRunHistory(
  services: RunServices,
  session: SessionState,
  run: Pick<RunHistoryParts, 'declared' | 'isCutOff'>,
): Promise<LoadedHistory | undefined> {
  const { declared, isCutOff } = run
  if (Object.values(declared).every(({ history }) => history === undefined)) return undefined
  const isFresh = session.stepCount === 0 && Object.keys(session.workspaceRefs).length === 0
  const stored = isFresh ? undefined : await services.stateStore.loadHistory(session.sessionId)
  const history = new SnapshotHistory({ ...run, services, session, stored })
  const hasLeftovers = stored !== undefined && (isCutOff || stored.released.length > 0)
  return { history, hasLeftovers }
}
