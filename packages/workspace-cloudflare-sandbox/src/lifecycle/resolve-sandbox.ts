import { WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import type { OpenedWorkspace, ResolveOptions, WorkspaceRef } from '@helix-agents/core/provider'
import { isRootMounted } from '../config.ts'
import { DriverError } from '../driver/driver-error.ts'
import type { SandboxDriver } from '../driver/port.ts'
import { assertClaim, readRef, type SandboxRef, type StoredSnapshot } from '../ref.ts'
import {
  type Attachment,
  buildWorkspace,
  createAttachment,
  createDriver,
  nowOf,
  preparationOf,
  recordOf,
  type SandboxServices,
} from './build-workspace.ts'
import { lossKey } from './open-sandbox.ts'
import { ensureContainer, mountAll, restoreFrom } from './prepare-sandbox.ts'

/** A ref on its way to a container. */
interface Resolve extends Attachment {
  readonly stored: SandboxRef
  readonly driver: SandboxDriver
}

/**
 * Attaches to the sandbox of a ref. Every step before the last may end in a crash and be done
 * again: the stored ref keeps the old fence until the whole is done.
 */
export async function resolveSandbox(
  services: SandboxServices,
  ref: WorkspaceRef,
  request: ResolveOptions,
): Promise<OpenedWorkspace> {
  const { signal } = request
  const stored = readRef(ref)
  const attachment = await createAttachment(services, request)
  assertClaim(stored, attachment.claimant)
  if (services.memory.isEnded(stored.lifetime)) throw lost()
  const driver = createDriver(attachment, stored.sandbox)
  const resolve: Resolve = { ...attachment, stored, driver }
  if (stored.epoch === null) return makeFork(resolve)
  if (stored.line !== driver.line) return revive(resolve)
  if (!(await isWorthStart(resolve))) throw noteLoss(resolve)
  await announce(resolve)
  const { outcome } = await ensureContainer(driver, { knownEpoch: stored.epoch, signal })
  if (outcome !== 'reattached') return revive(resolve)
  await mountAll(driver, preparationOf(resolve))
  return buildWorkspace(resolve, driver, { ref: stored, receipt: { outcome: 'reattached' } })
}

/** A stopped container has lost its disk: it is not started only to see that. */
async function isWorthStart({ driver, stored, services }: Resolve): Promise<boolean> {
  if (isRootMounted(services.config) || canRestore(services, stored)) return true
  const { running } = await driver.identity()
  return running !== false
}

function announce(resolve: Resolve): Promise<void> | undefined {
  const { directory } = resolve.services.options
  return directory?.recordOpening(recordOf(resolve, resolve.stored.sandbox))
}

/** The disk is another one. Brings back what can be; the rest is lost. */
async function revive(resolve: Resolve): Promise<OpenedWorkspace> {
  const { stored, services } = resolve
  if (canRestore(services, stored) && stored.snapshot !== null) {
    const epoch = await restoreInto(resolve, stored.snapshot)
    return finish(resolve, { ...stored, epoch }, describeRestore(stored.snapshot))
  }
  if (!isRootMounted(services.config)) throw noteLoss(resolve)
  const epoch = await prepare(resolve)
  return finish(resolve, { ...stored, epoch })
}

/** Makes the sandbox of a fork from its snapshot. From now on it is of the session that asks. */
async function makeFork(resolve: Resolve): Promise<OpenedWorkspace> {
  const { stored, claimant } = resolve
  if (stored.snapshot === null) throw new WorkspaceFailedError('ref-invalid', 'a fork of nothing')
  const epoch = await restoreInto(resolve, stored.snapshot)
  const { autoRestore } = resolve.services.config
  // What is never brought back again need not be kept.
  const snapshot = autoRestore ? stored.snapshot : null
  const ref = { ...stored, owner: claimant.owner, epoch, snapshot }
  return finish(resolve, ref, describeRestore(stored.snapshot))
}

/** @returns the epoch of the restored container. */
async function restoreInto(resolve: Resolve, snapshot: StoredSnapshot): Promise<string> {
  const { driver } = resolve
  if (driver.snapshots === undefined) {
    throw new WorkspaceFailedError(
      'capability-missing',
      'the workspace is made of a snapshot, and no backup bucket is configured',
      { hint: 'An operator must configure the backup bucket (backupR2Binding).' },
    )
  }
  await announce(resolve)
  const { epoch } = await ensureContainer(driver, { signal: resolve.request.signal })
  try {
    await restoreFrom(driver, snapshot, preparationOf(resolve))
  } catch (error) {
    throw isSnapshotGone(error) ? noteLoss(resolve, error) : error
  }
  await mountAll(driver, preparationOf(resolve))
  return epoch
}

async function prepare(resolve: Resolve): Promise<string> {
  await announce(resolve)
  const { epoch } = await ensureContainer(resolve.driver, { signal: resolve.request.signal })
  await mountAll(resolve.driver, preparationOf(resolve))
  return epoch
}

function finish(resolve: Resolve, ref: SandboxRef, restored?: string): OpenedWorkspace {
  const next = { ...ref, line: resolve.driver.line, seenMs: nowOf(resolve) }
  const receipt =
    restored === undefined
      ? ({ outcome: 'reattached' } as const)
      : ({ outcome: 'restored', detail: restored } as const)
  return buildWorkspace(resolve, resolve.driver, { ref: next, receipt })
}

function canRestore({ config }: SandboxServices, { snapshot }: SandboxRef): boolean {
  return config.autoRestore && snapshot !== null
}

function describeRestore({ takenAtMs }: StoredSnapshot): string {
  return `Its files are those of the snapshot of ${new Date(takenAtMs).toISOString()}; processes and code contexts are gone.`
}

const GONE_SNAPSHOT: ReadonlySet<string> = new Set(['snapshot-missing', 'snapshot-expired'])

function isSnapshotGone(error: unknown): boolean {
  return error instanceof DriverError && GONE_SNAPSHOT.has(error.code)
}

/** The open that follows informs the session. */
function noteLoss(resolve: Resolve, cause?: unknown): WorkspaceEvictedError {
  resolve.services.memory.noteLoss(lossKey(resolve), resolve.stored.seenMs)
  return lost(cause)
}

function lost(cause?: unknown): WorkspaceEvictedError {
  return new WorkspaceEvictedError('the container and its files are gone', {
    code: 'lost',
    ...(cause !== undefined && { cause }),
  })
}
