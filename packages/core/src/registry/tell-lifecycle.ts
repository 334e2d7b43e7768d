import { logMessages } from '../logging/log-messages.ts'
import type {
  WorkspaceLifecycleEvent,
  WorkspaceLifecycleListener,
} from '../workspace/lifecycle-listener.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { RegistryContext } from './registry-context.ts'
import type { CloseMode, OwedDestroy } from './registry-deps.ts'
import type { RegistryEntry } from './registry-entry.ts'

type TellContext = Pick<RegistryContext, 'lifecycle' | 'logger' | 'session'>

/** A workspace was opened, resolved or switched to. */
export function tellOpened(entry: RegistryEntry, context: TellContext): void {
  const { held, receipt, ref } = entry
  if (held === undefined || receipt === undefined || ref === undefined) return
  tell(context, (listener) => {
    listener.onOpen?.({ ...eventOf(entry, context), workspaceId: held.id, ref, receipt })
  })
}

/** An operation ended with a result, or without one. */
export function tellActivity(
  entry: RegistryEntry,
  live: Workspace,
  outcome: { readonly result?: unknown },
  context: TellContext,
): void {
  // The hot path: without a listener nothing is made.
  if (context.lifecycle?.onActivity === undefined) return
  const activity = { succeeded: 'result' in outcome, timedOut: isTimedOut(outcome.result) }
  tell(context, (listener) => {
    listener.onActivity?.({ ...eventOf(entry, context), workspaceId: live.id, ...activity })
  })
}

/** A workspace was closed or detached. */
export function tellClosed(
  entry: RegistryEntry,
  workspace: Workspace,
  mode: CloseMode,
  context: TellContext,
): void {
  tell(context, (listener) => {
    listener.onClose?.({ ...eventOf(entry, context), workspaceId: workspace.id, mode })
  })
}

/** A workspace should be gone, and may still be there. */
export function tellOwed(
  entry: RegistryEntry,
  reason: OwedDestroy['reason'],
  context: TellContext,
): void {
  const id = entry.held === undefined ? {} : { workspaceId: entry.held.id }
  tell(context, (listener) => {
    listener.onOwed?.({ ...eventOf(entry, context), ...id, reason })
  })
}

function eventOf(entry: RegistryEntry, { session }: TellContext): WorkspaceLifecycleEvent {
  return { ...entry.labels, session, ...(entry.ref !== undefined && { ref: entry.ref }) }
}

/** A listener cannot break what it hears of. */
function tell(context: TellContext, work: (listener: WorkspaceLifecycleListener) => void): void {
  if (context.lifecycle === undefined) return
  try {
    work(context.lifecycle)
  } catch (err) {
    context.logger.error({ err }, logMessages.lifecycleListenerFailed)
  }
}

/** The result of a command says so; no other operation does. */
function isTimedOut(result: unknown): boolean {
  const isObject = typeof result === 'object' && result !== null
  return isObject && 'timedOut' in result && result.timedOut === true
}
