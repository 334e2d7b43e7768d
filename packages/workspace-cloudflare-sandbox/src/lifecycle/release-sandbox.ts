import { noopLogger } from '@helix-agents/core'
import type { ResolveOptions, WorkspaceRef } from '@helix-agents/core/provider'
import { assertReleasable, readRef } from '../ref.ts'
import {
  createAttachment,
  createDriver,
  recordOf,
  type SandboxServices,
} from './build-workspace.ts'
import { toOpenError } from './map-error.ts'
import { recordOwed } from './record-owed.ts'

/**
 * Ends the sandbox of a ref that a session has let go, also where the end of a session keeps it: nobody
 * will ask for it again. One that several sessions share is theirs and stays. Never starts a container.
 * @throws {WorkspaceFailedError} `ref-invalid`, also for a sandbox of another session; the end is not
 * confirmed: releasing again tries again.
 */
export async function releaseSandbox(
  services: SandboxServices,
  ref: WorkspaceRef,
  request: ResolveOptions,
): Promise<void> {
  const stored = readRef(ref)
  if (stored.isShared) return
  const { id: _, ...own } = services.config
  const attachment = await createAttachment({ ...services, config: own }, request)
  const { directory, logger = request.logger ?? noopLogger } = services.options
  assertReleasable(stored, attachment.claimant)
  const driver = createDriver(attachment, stored.sandbox)
  const record = recordOf(attachment, stored.sandbox)
  try {
    await driver.destroy()
  } catch (cause) {
    await recordOwed({ directory, record }, cause, logger)
    throw toOpenError(cause)
  }
  services.memory.noteEnd(stored.lifetime)
  await directory?.recordDestroyed(record)
  await driver.disconnect()
}
