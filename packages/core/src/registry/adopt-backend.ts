import { FileLedger } from '../modules/fs/ledger/file-ledger.ts'
import { assertCapabilities } from '../workspace/capability-invariant.ts'
import { parseWorkspaceRef } from '../workspace/parse-ref.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import { noticeOf } from './notice.ts'
import type { OpenedBackend } from './open-backend.ts'
import type { RegistryContext } from './registry-context.ts'
import { assertOwnRef, type RegistryEntry } from './registry-entry.ts'
import { releaseBackend } from './release-backend.ts'
import type { OpenWorkspace } from './workspace-access.ts'

/**
 * Checks a backend and stores its ref, so that no operation runs on one that a crash would
 * leak. A backend that fails either is released before the error surfaces.
 */
export async function adoptBackend(
  entry: RegistryEntry,
  backend: OpenedBackend,
  context: RegistryContext,
): Promise<WorkspaceRef> {
  try {
    const ref = parseWorkspaceRef(backend.ref)
    assertOwnRef(entry, ref)
    assertCapabilities({
      workspace: entry.name,
      providerId: entry.labels.providerId,
      declared: entry.declaration.capabilities,
      offered: ref.capabilities,
      live: backend.ws,
    })
    if (!isSameRef(ref, entry.ref)) await context.persistRef(entry.name, ref)
    return ref
  } catch (error) {
    await releaseBackend(entry, backend, context)
    throw error
  }
}

/** Makes an adopted backend the one that operations use, and notes what the model must know. */
export function installBackend(
  entry: RegistryEntry,
  backend: OpenedBackend,
  ref: WorkspaceRef,
): OpenWorkspace {
  entry.ref = ref
  entry.held = backend.ws
  entry.generation++
  entry.receipt = Object.freeze({ ...backend.receipt })
  entry.isolation = backend.ws.isolation
  entry.containment = backend.ws.containment
  entry.maxProcesses = backend.ws.maxProcesses
  if (backend.receipt.outcome === 'cold') {
    // What was known of the earlier files says nothing about these.
    entry.ledger = new FileLedger()
    entry.isLedgerNew = true
  }
  const notice = noticeOf(entry.name, backend.receipt, backend.isOfBranch)
  if (notice !== undefined) entry.notice = notice
  return { live: backend.ws, ledger: entry.ledger }
}

/** Stores the ref of a live workspace when that has changed since it was opened. */
export async function storeChangedRef(
  entry: RegistryEntry,
  opened: OpenWorkspace,
  context: RegistryContext,
): Promise<void> {
  const { changedRef } = opened.live
  if (changedRef === undefined || changedRef === entry.changedRef) return
  // An evicted or replaced workspace has nothing to say about the present one.
  if (entry.current !== opened) return
  const ref = parseWorkspaceRef(changedRef)
  assertOwnRef(entry, ref)
  if (!isSameRef(ref, entry.ref)) await context.persistRef(entry.name, ref)
  entry.changedRef = changedRef
  entry.ref = ref
}

function isSameRef(a: WorkspaceRef, b: WorkspaceRef | undefined): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b)
}
