import { HelixError } from '../errors/helix-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import { settled, untilAborted } from '../time/abort.ts'
import { adoptBackend, installBackend } from './adopt-backend.ts'
import { mayReopen } from './cooldown-reset.ts'
import { openBackend } from './open-backend.ts'
import { toOpenError } from './open-error.ts'
import type { RegistryContext } from './registry-context.ts'
import {
  assertNotClosed,
  failEntry,
  isClosed,
  moveEntry,
  noteAttempt,
  noteSuccess,
  type RegistryEntry,
} from './registry-entry.ts'
import { tellOpened } from './tell-lifecycle.ts'
import type { OpenWorkspace } from './workspace-access.ts'
import { tracedOpen } from './workspace-span.ts'

/**
 * The open workspace; opens it when needed. All callers share one open, which belongs to the
 * registry: an aborted caller only stops waiting.
 */
export async function acquireEntry(
  entry: RegistryEntry,
  context: RegistryContext,
  signal?: AbortSignal,
): Promise<OpenWorkspace> {
  signal?.throwIfAborted()
  if (entry.current !== undefined) return entry.current
  if (entry.switching !== undefined) {
    await untilAborted(entry.switching, signal)
    return acquireEntry(entry, context, signal)
  }
  assertMayOpen(entry, context)
  const opened = await untilAborted(entry.opening ?? startOpen(entry, context), signal)
  // Between the open and this turn the registry may have closed, or a newer open come.
  assertNotClosed(entry)
  return entry.current ?? opened
}

function assertMayOpen(entry: RegistryEntry, context: RegistryContext): void {
  assertNotClosed(entry)
  if (entry.state !== 'failed' || entry.failure === undefined) return
  if (!mayReopen(entry, context)) throw entry.failure.error
}

function startOpen(entry: RegistryEntry, context: RegistryContext): Promise<OpenWorkspace> {
  moveEntry(entry, 'open', context)
  const startedAt = context.clock.now()
  noteAttempt(entry, startedAt)
  const opening = tracedOpen(entry, context, () => runOpen(entry, context, startedAt))
  entry.opening = opening
  // Every caller may have left; the entry keeps the error.
  void settled(opening)
  return opening
}

async function runOpen(
  entry: RegistryEntry,
  context: RegistryContext,
  startedAt: number,
): Promise<OpenWorkspace> {
  try {
    const backend = await openBackend(entry, context)
    const ref = await adoptBackend(entry, backend, context)
    const opened = installBackend(entry, backend, ref)
    tellOpened(entry, context)
    recordSuccess(entry, context, startedAt)
    // Close takes over what is held.
    assertNotClosed(entry)
    moveEntry(entry, 'opened', context)
    entry.current = opened
    return opened
  } catch (cause) {
    const error = toOpenError(cause, entry, context)
    recordFailure(entry, context, error)
    throw error
  } finally {
    delete entry.opening
  }
}

function recordSuccess(entry: RegistryEntry, context: RegistryContext, startedAt: number): void {
  const now = context.clock.now()
  noteSuccess(entry, now)
  entry.openedAt = now
  delete entry.failure
  context.metrics.incOpen(entry.labels, entry.receipt?.outcome ?? 'created')
  context.metrics.observeOpenMs(entry.labels, now - startedAt)
}

function recordFailure(entry: RegistryEntry, context: RegistryContext, error: HelixError): void {
  if (isClosed(entry)) return
  context.metrics.incOpenFailure(entry.labels, error.code)
  context.logger.error(
    { ...entry.labels, sessionId: context.session.sessionId, code: error.code, err: error },
    logMessages.openFailed,
  )
  failEntry(entry, error, context)
}
