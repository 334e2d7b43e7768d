import { HelixError } from '../errors/helix-error.ts'
import { WorkspaceEvictedError } from '../errors/workspace-evicted-error.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import type { RegistryContext } from './registry-context.ts'
import { closedError, type RegistryEntry } from './registry-entry.ts'

/**
 * What a failed open says to its callers. Never an eviction: that would look like one of the
 * operation that asked for the workspace.
 */
export function toOpenError(
  error: unknown,
  entry: RegistryEntry,
  context: RegistryContext,
): HelixError {
  if (context.lifetime.signal.aborted) return closedError(entry.name, error)
  if (WorkspaceEvictedError.isInstance(error)) return whenGone(error, entry.name)
  if (HelixError.isInstance(error)) return error
  return new WorkspaceFailedError(
    'provider-failed',
    `workspace "${entry.name}" could not be opened`,
    { cause: error, hint: 'Go on without this workspace; an operator must look at it.' },
  )
}

function whenGone(error: WorkspaceEvictedError, name: string): WorkspaceFailedError {
  if (error.code === 'lost') {
    return new WorkspaceFailedError(
      'provider-failed',
      `workspace "${name}" is gone for good, and its declaration forbids a fresh one`,
      { cause: error, hint: 'Go on without this workspace and say that its files are lost.' },
    )
  }
  return new WorkspaceFailedError('provider-failed', `workspace "${name}" went away again`, {
    transient: true,
    cause: error,
    hint: 'Try again later.',
  })
}
