import { type Clock, PolicyError, WorkspaceFailedError } from '@helix-agents/core'
import type {
  SnapshotOptions,
  SnapshotRef,
  Snapshotter,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { SANDBOX_KIND, WORKSPACE_ROOT } from '../../config.ts'
import type { DriverSnapshots, SandboxDriver } from '../../driver/port.ts'
import type { LiveSandbox } from '../../lifecycle/live-sandbox.ts'
import { type StoredSnapshot, storedSnapshotSchema } from '../../ref.ts'
import { forkId } from '../../sandbox-id.ts'

const snapshotSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** Hash of the session that took it. */
  session: z.string().regex(/^[a-z2-7]{32}$/),
  snapshot: storedSnapshotSchema,
})

export interface SandboxSnapshotterOptions {
  /** Hash of the session. */
  readonly session: string
  readonly ttlSeconds: number
  /** The last snapshot is kept in the ref, for a container that lost its disk. */
  readonly isKept: boolean
  /** Of the ref of a fork: it is made when it is first resolved. */
  toForkRef(sandboxId: string, snapshot: StoredSnapshot): WorkspaceRef
}

/**
 * Snapshots of `/workspace` in a bucket. A fork is only a ref at first: its sandbox is made when
 * the ref is resolved, so that none is made without an owner.
 */
export class CloudflareSandboxSnapshotter implements Snapshotter {
  readonly #sandbox: LiveSandbox
  readonly #options: SandboxSnapshotterOptions

  constructor(sandbox: LiveSandbox, options: SandboxSnapshotterOptions) {
    this.#sandbox = sandbox
    this.#options = options
  }

  async snapshot(options: SnapshotOptions = {}): Promise<SnapshotRef> {
    const { signal, keep = false } = options
    signal?.throwIfAborted()
    const { ttlSeconds, session, isKept } = this.#options
    const abort = { ...(signal !== undefined && { signal }) }
    const takenAtMs = this.#sandbox.clock.now()
    const kept = { ...(keep && { keptAtMs: takenAtMs }) }
    const taking = { ttlSeconds, name: session, ...kept, ...abort }
    const backup = await this.#sandbox.call(
      (driver) => snapshotsOf(driver).take(WORKSPACE_ROOT, taking),
      { timeoutMs: Number.POSITIVE_INFINITY },
    )
    const snapshot = storedSnapshotSchema.parse({ takenAtMs, backup })
    if (isKept) this.#sandbox.recordSnapshot(snapshot)
    return toSnapshotRef(session, snapshot)
  }

  async restore(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.#fork(ref, 'restored', options)
  }

  async branch(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.#fork(ref, 'branch', options)
  }

  async #fork(
    ref: SnapshotRef,
    kind: 'restored' | 'branch',
    options: SnapshotOptions,
  ): Promise<WorkspaceRef> {
    options.signal?.throwIfAborted()
    const { session, snapshot } = parseSnapshot(ref)
    if (options.allowCrossSession !== true) await this.#assertOwn(session, snapshot)
    assertLasts(snapshot, this.#sandbox.clock)
    return this.#options.toForkRef(await forkId(this.#sandbox.ref.sandbox, kind), snapshot)
  }

  async #assertOwn(session: string, { backup }: StoredSnapshot): Promise<void> {
    const name = await this.#sandbox.call(async (driver) => driver.snapshots?.nameOf?.(backup))
    assertTakenBy(this.#options.session, { session, name })
  }
}

/**
 * A ref passes through the model, which may change it: the bucket knows better.
 * @throws {PolicyError} `cross-session`
 */
export function assertTakenBy(
  own: string,
  { session, name = session }: { readonly session: string; readonly name: string | undefined },
): void {
  if (session === own && name === session) return
  throw new PolicyError('cross-session', 'the snapshot was taken by another session', {
    hint: 'Restore a snapshot that this session took.',
  })
}

/** @throws {WorkspaceFailedError} `provider-failed` */
export function assertLasts({ backup }: StoredSnapshot, clock: Pick<Clock, 'now'>): void {
  if (backup.expiresAtMs > clock.now()) return
  throw new WorkspaceFailedError('provider-failed', 'the snapshot has expired', {
    hint: 'Take a new snapshot.',
  })
}

function snapshotsOf({ snapshots }: SandboxDriver): DriverSnapshots {
  if (snapshots !== undefined) return snapshots
  throw new WorkspaceFailedError('config-invalid', 'no backup bucket is configured')
}

/** @param session Hash of the session that took it. */
export function toSnapshotRef(session: string, snapshot: StoredSnapshot): SnapshotRef {
  return { providerId: SANDBOX_KIND, ref: { schemaVersion: 1, session, snapshot } }
}

/** @throws {WorkspaceFailedError} `ref-invalid`. */
export function parseSnapshot({ providerId, ref }: SnapshotRef): z.output<typeof snapshotSchema> {
  const parsed = snapshotSchema.safeParse(ref)
  if (providerId === SANDBOX_KIND && parsed.success) return parsed.data
  throw new WorkspaceFailedError(
    'ref-invalid',
    'that is not a snapshot of this kind of workspace',
    {
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      cause: parsed.error,
    },
  )
}
