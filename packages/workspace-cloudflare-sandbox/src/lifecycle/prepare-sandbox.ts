import { type CloudflareSandboxConfig, type SandboxMount, WORKSPACE_ROOT } from '../config.ts'
import { DriverError } from '../driver/driver-error.ts'
import type { EnsureOptions, EnsureOutcome, MountRequest, SandboxDriver } from '../driver/port.ts'
import type { StoredSnapshot } from '../ref.ts'
import type { SandboxSettings } from '../provider-options.ts'

/** What a container needs before its first operation. */
export interface Preparation {
  readonly config: CloudflareSandboxConfig
  readonly settings: SandboxSettings
  /** Hash that keeps the mounted files of workspaces apart. */
  readonly owner: string
  readonly localBuckets: boolean
  readonly signal: AbortSignal
}

/**
 * Starts the container or finds it. Right after a sleep or an end the first call may still meet
 * the container that is going away; asking twice is harmless.
 */
export async function ensureContainer(
  driver: SandboxDriver,
  options: EnsureOptions,
): Promise<EnsureOutcome> {
  try {
    return await driver.ensure(options)
  } catch (error) {
    // After a call that timed out, another one would only take as long.
    if (!(error instanceof DriverError) || error.code !== 'interrupted') throw error
    if (error.admitted !== 'no') throw error
    options.signal.throwIfAborted()
    return driver.ensure(options)
  }
}

/**
 * Mounts what is declared. At every open, not only into a new container: one that was left half
 * prepared must not take files that are meant for a bucket.
 */
export async function mountAll(driver: SandboxDriver, preparation: Preparation): Promise<void> {
  const { config, owner, localBuckets, signal } = preparation
  for (const mount of config.mounts) {
    signal.throwIfAborted()
    await driver.mount(toRequest(mount, owner, localBuckets))
  }
}

/** Brings a snapshot back, before anything is mounted over it. */
export async function restoreFrom(
  driver: SandboxDriver,
  { backup }: StoredSnapshot,
  { settings, signal }: Preparation,
): Promise<void> {
  await driver.snapshots?.restore(backup, WORKSPACE_ROOT, {
    maxBytes: settings.maxRestoreBytes,
    maxMembers: settings.maxRestoreMembers,
    signal,
  })
}

/** What outlives the disk of a container: the model is informed when that is not everything. */
export function describeKept(config: CloudflareSandboxConfig): string {
  const kept = config.mounts
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${WORKSPACE_ROOT}/`))
    .map((path) => path.slice(WORKSPACE_ROOT.length))
  return kept.length === 0 ? '' : ` Files below ${kept.join(', ')} are kept.`
}

/** The prefix is the border between tenants: it comes from the session, never from a model. */
function toRequest(mount: SandboxMount, owner: string, localBuckets: boolean): MountRequest {
  const { bucket, path, readOnly, endpoint } = mount
  const prefix = mount.shareAcrossSessions === true ? mount.prefix : ownPrefix(mount, owner)
  return {
    bucket,
    path,
    ...(prefix !== undefined && { prefix }),
    ...(readOnly !== undefined && { readOnly }),
    ...(endpoint !== undefined && { endpoint }),
    ...(localBuckets && { local: true }),
  }
}

function ownPrefix({ prefix = '/helix' }: SandboxMount, owner: string): string {
  return `${prefix}/${owner}`
}
