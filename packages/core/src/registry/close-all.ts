import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import { settled } from '../time/abort.ts'
import { withDeadline } from '../time/deadline.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { isLost, resolveRef } from './open-backend.ts'
import type { RegistryContext } from './registry-context.ts'
import type { CloseMode, CloseReport, OwedDestroy } from './registry-deps.ts'
import { moveEntry, type RegistryEntry } from './registry-entry.ts'
import { closeOverrun, endWorkspace } from './release-backend.ts'
import { tellClosed, tellOwed } from './tell-lifecycle.ts'
import { type NoteFailure, tracedClose } from './workspace-span.ts'

/** Where the close of one workspace stands; the work goes on after its time is up. */
interface CloseProgress {
  readonly mode: CloseMode
  isOverdue: boolean
  /** The backend is gone, or let go: nothing is owed. */
  isDone: boolean
}

/** Closes or detaches every workspace, each in its own time. Never rejects; says what is owed. */
export async function closeAll(
  entries: readonly RegistryEntry[],
  mode: CloseMode,
  context: RegistryContext,
): Promise<CloseReport> {
  for (const entry of entries) {
    moveEntry(entry, 'close', context)
    delete entry.current
  }
  context.lifetime.abort(
    new WorkspaceFailedError('closed', 'the workspaces of this session are closed'),
  )
  const isDone = await Promise.all(
    entries.map((entry) =>
      tracedClose(entry, mode, context, (noteFailure) =>
        closeBounded(entry, { mode, noteFailure }, context),
      ),
    ),
  )
  context.auditLogger.flush()
  return { owed: entries.filter((_, index) => isDone[index] === false).map(({ name }) => name) }
}

interface CloseRequest {
  readonly mode: CloseMode
  readonly noteFailure: NoteFailure
}

/** @returns false when what backs the workspace may still be there and should not. */
async function closeBounded(
  entry: RegistryEntry,
  { mode, noteFailure }: CloseRequest,
  context: RegistryContext,
): Promise<boolean> {
  const progress: CloseProgress = { mode, isOverdue: false, isDone: false }
  const overrun = new AbortController()
  const onTimeout = (): Error => {
    const error = closeOverrun(entry, context)
    progress.isOverdue = true
    overrun.abort(error)
    return error
  }
  const work = closeEntry(entry, progress, overrun.signal, context)
  try {
    await withDeadline(work, { clock: context.clock, timeoutMs: context.closeTimeoutMs, onTimeout })
  } catch (err) {
    noteFailure(err)
    await reportFailure(entry, progress, err, context)
  }
  moveEntry(entry, 'closed', context)
  return mode === 'detach' || progress.isDone
}

async function closeEntry(
  entry: RegistryEntry,
  progress: CloseProgress,
  signal: AbortSignal,
  context: RegistryContext,
): Promise<void> {
  await settled(entry.opening)
  await settled(entry.switching)
  const { mode } = progress
  const workspace = entry.held ?? (mode === 'end' ? await reach(entry, signal, context) : undefined)
  if (workspace !== undefined) {
    await endWorkspace(workspace, mode)
    delete entry.held
    context.metrics.incClose(entry.labels, mode)
    tellClosed(entry, workspace, mode, context)
  }
  progress.isDone = true
  // After its time the session may be somebody else's: the ref stays, and resolves as lost.
  if (mode === 'detach' || entry.ref === undefined || progress.isOverdue) return
  await context.persistRef(entry.name, null)
  delete entry.ref
}

/** A workspace that this run never used may hold storage from an earlier one. */
async function reach(
  entry: RegistryEntry,
  signal: AbortSignal,
  context: RegistryContext,
): Promise<Workspace | undefined> {
  if (entry.refProblem !== undefined) throw entry.refProblem
  const { ref } = entry
  if (ref === undefined) return undefined
  try {
    const backend = await context.openLimit(
      () => resolveRef(entry, { ref, signal }, context),
      signal,
    )
    return backend.ws
  } catch (error) {
    if (isLost(error)) return undefined
    throw error
  }
}

async function reportFailure(
  entry: RegistryEntry,
  progress: CloseProgress,
  err: unknown,
  context: RegistryContext,
): Promise<void> {
  const { mode, isOverdue } = progress
  const fields = { ...entry.labels, sessionId: context.session.sessionId, mode, err }
  context.logger.error(fields, isOverdue ? logMessages.closeTimedOut : logMessages.closeFailed)
  if (isOverdue) context.metrics.incCloseTimeout(entry.labels)
  if (mode === 'detach' || progress.isDone) return
  tellOwed(entry, isOverdue ? 'timeout' : 'failed', context)
  const owed: OwedDestroy = {
    workspace: entry.name,
    providerId: entry.labels.providerId,
    session: context.session,
    ...(entry.ref !== undefined && { ref: entry.ref }),
    reason: isOverdue ? 'timeout' : 'failed',
  }
  try {
    await withDeadline(Promise.resolve(context.onOwedDestroy(owed)), {
      clock: context.clock,
      timeoutMs: context.closeTimeoutMs,
      onTimeout: () => closeOverrun(entry, context),
    })
  } catch (error) {
    context.logger.error({ ...fields, err: error }, logMessages.closeFailed)
  }
}
