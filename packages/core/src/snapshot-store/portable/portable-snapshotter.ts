import * as z from 'zod'
import { PolicyError } from '../../errors/policy-error.ts'
import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import { WorkspaceFailedError } from '../../errors/workspace-failed-error.ts'
import type { Logger } from '../../logging/logger.ts'
import { logMessages } from '../../logging/log-messages.ts'
import type { FileSystem } from '../../modules/fs/contract.ts'
import type { SnapshotOptions, SnapshotRef, Snapshotter } from '../../modules/snapshot/contract.ts'
import type { Clock } from '../../time/clock.ts'
import type { SessionRef } from '../../workspace/provider.ts'
import type { WorkspaceRef } from '../../workspace/ref.ts'
import type { SnapshotLoss } from '../loss.ts'
import type { SnapshotHeader, SnapshotManifest } from '../manifest.ts'
import type { SnapshotStore } from '../snapshot-store.ts'
import { takeSnapshot } from '../take/take-snapshot.ts'
import { allManifests } from '../verify-snapshots.ts'

/** Paths that a line of the log names. */
const NAMED_LOSSES = 20

const payloadSchema = z.strictObject({
  schemaVersion: z.literal(1),
  scope: z.string().min(1).max(512),
  snapshotId: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/),
})

/** Where a portable snapshot is. */
export type PortableSnapshotRef = Readonly<z.output<typeof payloadSchema>>

/** What the snapshots of one workspace need. */
export interface PortableSnapshotterParts {
  readonly store: SnapshotStore
  readonly scope: string
  readonly ignore: readonly string[]
  readonly maxSnapshots: number
  readonly providerId: string
  readonly workspace: string
  readonly workspaceId: string
  readonly session: SessionRef
  readonly fs: FileSystem
  readonly logger: Logger
  readonly clock: Clock
  /** Makes a workspace with the files of a snapshot. */
  readonly fork: (
    manifest: SnapshotManifest,
    scope: string,
    signal?: AbortSignal,
  ) => Promise<WorkspaceRef>
}

/** Snapshots of any workspace with files, in a store. */
export class PortableSnapshotter implements Snapshotter {
  readonly #parts: PortableSnapshotterParts
  /** The newest of this workspace; the next one is compared with it. */
  #parent: SnapshotManifest | undefined
  #isParentKnown = false

  constructor(parts: PortableSnapshotterParts) {
    this.#parts = parts
  }

  /** @throws {SnapshotStoreError} */
  async snapshot({ signal, keep = false }: SnapshotOptions = {}): Promise<SnapshotRef> {
    const { store, fs, logger, fork: _, maxSnapshots, ...identity } = this.#parts
    const parent = await this.#findParent()
    const { manifest, losses } = await takeSnapshot(fs, store, {
      ...identity,
      keep,
      ...(parent && { parent }),
      ...(signal && { signal }),
    })
    this.#parent = manifest
    logLosses(logger, logMessages.snapshotIncomplete, losses)
    await this.#dropOldest(maxSnapshots)
    return toPortableRef(identity.providerId, identity.scope, manifest.header.snapshotId)
  }

  /**
   * @throws {WorkspaceFailedError} `ref-invalid`; `provider-failed` for one that is gone or damaged.
   * @throws {PolicyError} `cross-session`
   */
  async restore(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    const { store, session, providerId, scope } = this.#parts
    const payload = parsePortableRef(ref, providerId)
    if (payload.scope !== scope) assertSameSession(options)
    const manifest = await readSnapshot(store, payload)
    if (manifest.header.sessionId !== session.sessionId) assertSameSession(options)
    return this.#parts.fork(manifest, payload.scope, options.signal)
  }

  async branch(ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> {
    return this.restore(ref, options)
  }

  /** Deletes what is not kept; the sweep frees what only that named. */
  async end(): Promise<void> {
    await this.#dropOldest(0)
    await this.#parts.store.sweep(this.#parts.scope)
  }

  /** Also after a restart: that of the workspace that was stored last. */
  async #findParent(): Promise<SnapshotManifest | undefined> {
    if (this.#isParentKnown) return this.#parent
    this.#isParentKnown = true
    const { workspaceId } = this.#parts
    const newest = (await this.#line()).find((header) => header.workspaceId === workspaceId)
    if (newest === undefined) return undefined
    this.#parent = await unlessGone(
      this.#parts.store.getManifest(this.#parts.scope, newest.snapshotId),
    )
    return this.#parent
  }

  async #dropOldest(kept: number): Promise<void> {
    const { store, scope } = this.#parts
    const unkept = (await this.#line()).filter((header) => header.kept !== true)
    const dropped = unkept.slice(kept)
    for (const { snapshotId } of dropped) await store.deleteManifest(scope, snapshotId)
  }

  /** Headers of the workspace and of those that it was restored from, the newest first. */
  async #line(): Promise<readonly SnapshotHeader[]> {
    const { store, scope, session, workspace } = this.#parts
    const line: SnapshotHeader[] = []
    for await (const header of allManifests(store, scope)) {
      const isOwn = header.sessionId === session.sessionId && header.workspace === workspace
      if (isOwn) line.push(header)
    }
    return line
  }
}

/** A ref of a snapshot in a store. */
export function toPortableRef(providerId: string, scope: string, snapshotId: string): SnapshotRef {
  return { providerId, ref: { schemaVersion: 1, scope, snapshotId } }
}

/** @throws {WorkspaceFailedError} `ref-invalid` */
export function parsePortableRef(
  { providerId, ref }: SnapshotRef,
  expected: string,
): PortableSnapshotRef {
  const parsed = payloadSchema.safeParse(ref)
  if (providerId === expected && parsed.success) return parsed.data
  throw new WorkspaceFailedError(
    'ref-invalid',
    'that is not a snapshot of this kind of workspace',
    {
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      cause: parsed.error,
    },
  )
}

/** @throws {WorkspaceFailedError} `provider-failed` for one that is gone or damaged. */
export async function readSnapshot(
  store: SnapshotStore,
  { scope, snapshotId }: PortableSnapshotRef,
): Promise<SnapshotManifest> {
  try {
    return await store.getManifest(scope, snapshotId)
  } catch (error) {
    throw toWorkspaceError(error)
  }
}

/** What a store could not do, as callers of a provider have it. */
export function toWorkspaceError(error: unknown): unknown {
  if (!SnapshotStoreError.isInstance(error)) return error
  const { code, transient } = error
  const message = code === 'not-found' ? 'there is no such snapshot' : error.message
  const hint = code === 'not-found' ? 'The last ones are kept. Take a new one.' : error.hint
  return new WorkspaceFailedError('provider-failed', message, {
    transient,
    cause: error,
    ...(hint !== undefined && { hint }),
  })
}

/** @throws {PolicyError} `cross-session` */
export function assertSameSession({ allowCrossSession = false }: SnapshotOptions): void {
  if (allowCrossSession) return
  throw new PolicyError('cross-session', 'the snapshot was taken by another session', {
    hint: 'Restore a snapshot that this session took.',
  })
}

/** One line for what is not held, with the first paths. */
export function logLosses(logger: Logger, message: string, losses: readonly SnapshotLoss[]): void {
  if (losses.length === 0) return
  logger.warn({ count: losses.length, losses: losses.slice(0, NAMED_LOSSES) }, message)
}

async function unlessGone(manifest: Promise<SnapshotManifest>) {
  try {
    return await manifest
  } catch (error) {
    const isGone = SnapshotStoreError.isInstance(error) && !error.transient
    if (isGone) return undefined
    throw error
  }
}
