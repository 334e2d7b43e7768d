import { WorkspaceFailedError } from '@helix-agents/core'
import type { OpenedWorkspace, ResolveOptions, RestoreReceipt } from '@helix-agents/core/provider'
import {
  type Attachment,
  buildWorkspace,
  capabilitiesOf,
  createAttachment,
  createDriver,
  isBeside,
  newLifetime,
  nowOf,
  preparationOf,
  recordOf,
  type SandboxServices,
  unmade,
} from './build-workspace.ts'
import { describeKept, ensureContainer, mountAll } from './prepare-sandbox.ts'
import { toRef } from '../ref.ts'
import { forkId } from '../sandbox-id.ts'

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
  const attachment = await createAttachment(services, request)
  if (isBeside(request)) return openBeside(attachment)
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

/**
 * A sandbox of its own beside the one of the session, which the ref of the caller finds again. A crash at
 * any await leaves one that the caller has the ref of.
 */
async function openBeside(attachment: Attachment): Promise<OpenedWorkspace> {
  const { services, request, claimant } = attachment
  if (claimant.isShared) throw sharedOnly(claimant.sandbox)
  const { signal } = request
  const sandbox = await forkId(claimant.sandbox, 'restored')
  const driver = createDriver(attachment, sandbox)
  const seenMs = nowOf(attachment)
  const { owner } = claimant
  const ref = { ...unmade({ line: driver.line, sandbox, seenMs, snapshot: null }), owner }
  await request.onMaking?.(toRef(ref, capabilitiesOf(services.config)))
  await services.options.directory?.recordOpening(recordOf(attachment, sandbox))
  signal.throwIfAborted()
  const { epoch } = await ensureContainer(driver, { signal })
  await mountAll(driver, preparationOf(attachment))
  const receipt = { outcome: 'created' } as const
  return buildWorkspace(attachment, driver, { ref: { ...ref, epoch }, receipt })
}

function sharedOnly(sandbox: string): WorkspaceFailedError {
  const detail = `the declaration names the shared sandbox ${sandbox}: nothing is made beside it`
  return new WorkspaceFailedError('config-invalid', detail, {
    hint: 'An operator must remove id and shareAcrossSessions from the provider options.',
  })
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
