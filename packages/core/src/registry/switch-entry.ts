import { logMessages } from '../logging/log-messages.ts'
import { settled } from '../time/abort.ts'
import { withDeadline } from '../time/deadline.ts'
import { parseWorkspaceRef } from '../workspace/parse-ref.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { adoptBackend, installBackend } from './adopt-backend.ts'
import { type OpenedBackend, resolveRef } from './open-backend.ts'
import { toOpenError } from './open-error.ts'
import type { RegistryContext } from './registry-context.ts'
import {
  assertOwnRef,
  assertNotClosed,
  isClosed,
  moveEntry,
  type RegistryEntry,
} from './registry-entry.ts'
import { closeOverrun, endWorkspace } from './release-backend.ts'
import { tellClosed, tellOpened } from './tell-lifecycle.ts'
import { tracedSwitch } from './workspace-span.ts'

/**
 * Makes the entry use another workspace. The new one is resolved, checked and persisted first:
 * whatever fails before leaves the old one in place.
 */
export async function switchEntry(
  entry: RegistryEntry,
  value: WorkspaceRef,
  context: RegistryContext,
): Promise<void> {
  const ref = parseWorkspaceRef(value)
  assertOwnRef(entry, ref)
  while (entry.opening !== undefined || entry.switching !== undefined) {
    await settled(entry.switching ?? entry.opening)
  }
  assertNotClosed(entry)
  const work = tracedSwitch(entry, context, () => runSwitch(entry, ref, context))
  entry.switching = settled(work)
  await work
}

async function runSwitch(
  entry: RegistryEntry,
  ref: WorkspaceRef,
  context: RegistryContext,
): Promise<void> {
  const { signal } = context.lifetime
  const request = { ref, signal }
  try {
    const backend = await context.openLimit(() => resolveRef(entry, request, context), signal)
    const adopted = await adoptBackend(entry, backend, context)
    await swap(entry, backend, adopted, context)
  } catch (error) {
    throw toOpenError(error, entry, context)
  } finally {
    delete entry.switching
  }
}

async function swap(
  entry: RegistryEntry,
  backend: OpenedBackend,
  ref: WorkspaceRef,
  context: RegistryContext,
): Promise<void> {
  const old = entry.held
  const opened = installBackend(entry, backend, ref)
  tellOpened(entry, context)
  delete entry.refProblem
  delete entry.failure
  if (!isClosed(entry)) {
    if (entry.state !== 'open') {
      moveEntry(entry, 'open', context)
      moveEntry(entry, 'opened', context)
    }
    entry.current = opened
    entry.openedAt = context.clock.now()
  }
  if (old !== undefined && old !== backend.ws) await detachOld(entry, old, context)
  // Its ref is persisted, and close takes over what is held.
  assertNotClosed(entry)
}

/** The switch has happened; a handle that does not let go must not undo it. */
async function detachOld(
  entry: RegistryEntry,
  old: Workspace,
  context: RegistryContext,
): Promise<void> {
  try {
    await withDeadline(endWorkspace(old, 'detach'), {
      clock: context.clock,
      timeoutMs: context.closeTimeoutMs,
      onTimeout: () => closeOverrun(entry, context),
    })
    tellClosed(entry, old, 'detach', context)
  } catch (err) {
    context.logger.error(
      { ...entry.labels, sessionId: context.session.sessionId, mode: 'detach', err },
      logMessages.closeFailed,
    )
  }
}
