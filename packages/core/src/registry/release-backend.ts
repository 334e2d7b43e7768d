import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import { withDeadline } from '../time/deadline.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenedBackend } from './open-backend.ts'
import type { RegistryContext } from './registry-context.ts'
import type { CloseMode } from './registry-deps.ts'
import type { RegistryEntry } from './registry-entry.ts'

/** Gives back a backend that will not be used. Never rejects: the reason matters more. */
export async function releaseBackend(
  entry: RegistryEntry,
  backend: OpenedBackend,
  context: RegistryContext,
): Promise<void> {
  const mode = backend.isFresh ? 'end' : 'detach'
  try {
    await withDeadline(endWorkspace(backend.ws, mode), {
      clock: context.clock,
      timeoutMs: context.closeTimeoutMs,
      onTimeout: () => closeOverrun(entry, context),
    })
  } catch (err) {
    context.logger.error(
      { ...entry.labels, sessionId: context.session.sessionId, mode, err },
      logMessages.closeFailed,
    )
  }
}

/** Runs the provider's end-of-life policy, or only lets go of the handles. */
export async function endWorkspace(workspace: Workspace, mode: CloseMode): Promise<void> {
  if (mode === 'end') await workspace.close()
  else await workspace.detach?.()
}

export function closeOverrun(entry: RegistryEntry, context: RegistryContext): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'provider-failed',
    `workspace "${entry.name}" did not close within ${context.closeTimeoutMs} ms`,
  )
}
