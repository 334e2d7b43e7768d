import { HelixError } from '../errors/helix-error.ts'
import { WorkspaceEvictedError } from '../errors/workspace-evicted-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import { storeChangedRef } from './adopt-backend.ts'
import { acquireEntry } from './open-entry.ts'
import type { RegistryContext } from './registry-context.ts'
import {
  assertNotClosed,
  isClosed,
  moveEntry,
  noteAttempt,
  noteError,
  noteSuccess,
  type RegistryEntry,
} from './registry-entry.ts'
import { tellActivity } from './tell-lifecycle.ts'
import type { OpenWorkspace, UseOptions } from './workspace-access.ts'

type Operation<T> = (workspace: OpenWorkspace) => Promise<T>

/**
 * Evictions that some registry has dealt with. They pass through an enclosing operation on
 * another workspace, which is not evicted by them.
 */
const handled = new WeakSet<object>()

/**
 * Runs an operation on an open workspace. When the backend turns out to be gone, all that use
 * it share one new resolve; the operation runs again when it is safe to run twice.
 */
export async function useEntry<T>(
  entry: RegistryEntry,
  operation: Operation<T>,
  options: UseOptions,
  context: RegistryContext,
): Promise<T> {
  options.signal?.throwIfAborted()
  let opened = entry.current
  if (opened === undefined) {
    opened = await acquireEntry(entry, context, options.signal)
    assertNotClosed(entry)
  }
  const takeBack = noteAttempt(entry, context.clock.now())
  try {
    const result = await operation(opened)
    entry.lastOpAt = context.clock.now()
    noteSuccess(entry, entry.lastOpAt)
    tellActivity(entry, opened.live, { result }, context)
    await storeChangedRef(entry, opened, context)
    return result
  } catch (error) {
    entry.lastOpAt = context.clock.now()
    noteError(entry, error, { now: entry.lastOpAt, takeBack })
    tellActivity(entry, opened.live, {}, context)
    if (!WorkspaceEvictedError.isInstance(error) || handled.has(error)) throw error
    evictEntry(entry, opened, error, context)
    if (!mayRepeat(error, options)) throw outcomeUnknown(entry, error)
    return repeatOperation(entry, operation, options, context)
  }
}

/** A late error of an earlier open says nothing about the present one. */
function evictEntry(
  entry: RegistryEntry,
  opened: OpenWorkspace,
  error: WorkspaceEvictedError,
  context: RegistryContext,
): void {
  if (entry.current !== opened) return
  delete entry.current
  delete entry.held
  entry.evictions++
  entry.lastError = error
  context.metrics.incEviction(entry.labels)
  moveEntry(entry, 'evict', context)
}

function mayRepeat(error: WorkspaceEvictedError, options: UseOptions): boolean {
  return options.idempotent || error.admitted === 'no'
}

async function repeatOperation<T>(
  entry: RegistryEntry,
  operation: Operation<T>,
  options: UseOptions,
  context: RegistryContext,
): Promise<T> {
  const opened = await acquireEntry(entry, context, options.signal).catch((error: unknown) => {
    if (options.signal?.aborted !== true) logExhausted(entry, error, context)
    throw error
  })
  assertNotClosed(entry)
  const takeBack = noteAttempt(entry, context.clock.now())
  try {
    const result = await operation(opened)
    entry.lastOpAt = context.clock.now()
    noteSuccess(entry, entry.lastOpAt)
    tellActivity(entry, opened.live, { result }, context)
    await storeChangedRef(entry, opened, context)
    context.metrics.incEvictionRetry(entry.labels)
    return result
  } catch (error) {
    entry.lastOpAt = context.clock.now()
    noteError(entry, error, { now: entry.lastOpAt, takeBack })
    tellActivity(entry, opened.live, {}, context)
    // Any other error is the operation's own answer, from a backend that is there again.
    if (!WorkspaceEvictedError.isInstance(error) || handled.has(error)) throw error
    logExhausted(entry, error, context)
    evictEntry(entry, opened, error, context)
    throw mayRepeat(error, options) ? goneAgain(entry, error) : outcomeUnknown(entry, error)
  }
}

/** Once for all that waited for the same open. */
function logExhausted(entry: RegistryEntry, err: unknown, context: RegistryContext): void {
  if (isClosed(entry) || entry.exhaustionLoggedFor === entry.generation) return
  entry.exhaustionLoggedFor = entry.generation
  const code = HelixError.isInstance(err) ? err.code : undefined
  context.logger.error(
    { ...entry.labels, sessionId: context.session.sessionId, code, err },
    logMessages.evictionRetryExhausted,
  )
}

function goneAgain(entry: RegistryEntry, cause: WorkspaceEvictedError): WorkspaceEvictedError {
  return asHandled(
    new WorkspaceEvictedError(`workspace "${entry.name}" went away twice during the operation`, {
      cause,
      admitted: cause.admitted,
      hint: 'Try again later.',
    }),
  )
}

function outcomeUnknown(entry: RegistryEntry, cause: WorkspaceEvictedError): WorkspaceEvictedError {
  return asHandled(
    new WorkspaceEvictedError(
      `workspace "${entry.name}" went away during the operation, which may or may not have run`,
      {
        code: 'outcome-unknown',
        cause,
        hint: 'Check the state of the workspace before you repeat the operation.',
      },
    ),
  )
}

function asHandled(error: WorkspaceEvictedError): WorkspaceEvictedError {
  handled.add(error)
  return error
}
