import type { OpenedWorkspace, ResolveOptions, RestoreReceipt } from '@helix-agents/core/provider'
import {
  type Attachment,
  buildWorkspace,
  createAttachment,
  createDriver,
  newLifetime,
  nowOf,
  preparationOf,
  recordOf,
  type SandboxServices,
} from './build-workspace.ts'
import { describeKept, ensureContainer, mountAll } from './prepare-sandbox.ts'

/** Key of what a session has lost. */
export function lossKey({ claimant }: Attachment): string {
  return `${claimant.sandbox} ${claimant.owner}`
}

/**
 * Starts the sandbox that a declaration means. Its id follows from the session, so a crash at any
 * await leaves one that the next open finds again; the directory knows it before it is made.
 */
export async function openSandbox(
  services: SandboxServices,
  request: ResolveOptions,
): Promise<OpenedWorkspace> {
  const { signal } = request
  signal.throwIfAborted()
  const attachment = await createAttachment(services, request)
  const { claimant } = attachment
  const driver = createDriver(attachment, claimant.sandbox)
  await services.options.directory?.recordOpening(recordOf(attachment, claimant.sandbox))
  signal.throwIfAborted()
  const { outcome, epoch } = await ensureContainer(driver, { signal })
  await mountAll(driver, preparationOf(attachment))
  const receipt = receiptOf(attachment, outcome === 'reattached' ? 'reattached' : 'created')
  const ref = {
    line: driver.line,
    sandbox: claimant.sandbox,
    owner: claimant.isShared ? null : claimant.owner,
    isShared: claimant.isShared,
    lifetime: newLifetime(),
    epoch,
    seenMs: nowOf(attachment),
    snapshot: null,
  }
  return buildWorkspace(attachment, driver, { ref, receipt })
}

/** A session whose files were found gone is informed, whatever is there now. */
function receiptOf(attachment: Attachment, outcome: 'created' | 'reattached'): RestoreReceipt {
  const seenMs = attachment.services.memory.takeLoss(lossKey(attachment))
  if (seenMs === undefined) return { outcome }
  const found =
    outcome === 'reattached' ? ' Another life of the sandbox has left what is there now.' : ''
  return { outcome: 'cold', detail: describeLoss(attachment, seenMs) + found }
}

function describeLoss({ services }: Attachment, seenMs: number): string {
  const seen = new Date(seenMs).toISOString()
  return `Its container was stopped or replaced; it was last seen at ${seen}.${describeKept(services.config)}`
}
