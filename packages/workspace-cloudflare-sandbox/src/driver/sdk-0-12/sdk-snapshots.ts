import { DriverError } from '../driver-error.ts'
import type { DriverSnapshot, DriverSnapshots, DriverTakeOptions, KeptSnapshot } from '../port.ts'
import type { ContainerLink } from '../remote/container-link.ts'
import { emptyScript, measureScript } from '../script/lifecycle-scripts.ts'
import { decodeText } from '../script/file-reply.ts'
import { readArchiveHead } from './archive-head.ts'
import { BackupIndex, unmarked } from './backup-index.ts'
import { describeCause, field } from './error-shape.ts'
import type { SdkCalls } from './sdk-calls.ts'

const DEADLINE_MS = 15 * 60_000
/** The SDK takes a snapshot for expired so long before its end. */
const EXPIRY_MARGIN_MS = 60_000

export interface SdkSnapshotsOptions {
  readonly calls: SdkCalls
  readonly link: ContainerLink
  /** Local development: the object passes the archive itself, without presigned addresses. */
  readonly isLocal: boolean
  /** The bucket itself, to inspect an archive before it is unpacked. */
  readonly bucket?: R2Bucket
}

type Limits = Parameters<DriverSnapshots['restore']>[2]

/** Snapshots as backups of the SDK, in the bucket that is bound as `BACKUP_BUCKET`. */
export class SdkSnapshots implements DriverSnapshots {
  readonly #options: SdkSnapshotsOptions
  readonly #index: BackupIndex | undefined

  constructor(options: SdkSnapshotsOptions) {
    this.#options = options
    const { bucket, link } = options
    this.#index = bucket && new BackupIndex(bucket, link.clock)
  }

  async take(directory: string, options: DriverTakeOptions): Promise<DriverSnapshot> {
    const { name, keptAtMs: takenAtMs } = options
    const index = this.#index
    if (index === undefined || name === undefined || takenAtMs === undefined) {
      return this.#take(directory, options)
    }
    const markedName = await readBucket(() => index.begin(name))
    const backup = await this.#take(directory, { ...options, name: markedName })
    await readBucket(() => index.finish(name, markedName, { takenAtMs, backup }))
    return backup
  }

  async listKept(name: string): Promise<readonly KeptSnapshot[]> {
    return (await readBucket(async () => this.#index?.list(name))) ?? []
  }

  async #take(directory: string, options: DriverTakeOptions): Promise<DriverSnapshot> {
    const { calls, link, isLocal } = this.#options
    const before = await this.#measure(directory, options.signal)
    const { members, totalBytes } = before
    const expiresAtMs = link.clock.now() + options.ttlSeconds * 1000 - EXPIRY_MARGIN_MS
    const request = {
      dir: storable(before.path),
      ttl: options.ttlSeconds,
      ...(options.name !== undefined && { name: options.name }),
      ...(isLocal && { localBucket: true }),
    }
    const backup = await calls.make((stub) => stub.createBackup(request), {
      deadlineMs: DEADLINE_MS,
      isRepeatable: false,
      ...signalOf(options.signal),
    })
    await this.#assertWhole(backup.id, { directory, before, ...signalOf(options.signal) })
    return { id: backup.id, directory, expiresAtMs, local: isLocal, members, totalBytes }
  }

  /** What is written during the call may be in it or not; what existed all the time must be. */
  async #assertWhole(
    id: string,
    taken: {
      readonly directory: string
      readonly before: Measured
      readonly signal?: AbortSignal
    },
  ): Promise<void> {
    const { bucket } = this.#options
    if (bucket === undefined) return
    const head = await readBucket(() => readArchiveHead(bucket, id))
    if (head === undefined || head.members >= taken.before.inodes) return
    const after = await this.#measure(taken.directory, taken.signal)
    if (head.members >= after.inodes) return
    const detail = `the snapshot holds ${head.members} of ${after.inodes} files and directories`
    throw new DriverError('snapshot-failed', detail, { admitted: 'yes' })
  }

  async nameOf({ id }: DriverSnapshot): Promise<string | undefined> {
    const { bucket } = this.#options
    if (bucket === undefined) return undefined
    const text = await readBucket(async () => (await bucket.get(`backups/${id}/meta.json`))?.text())
    const name = text === undefined ? undefined : field(parseRecord(text), 'name')
    return typeof name === 'string' ? unmarked(name) : undefined
  }

  async remove({ id }: Pick<DriverSnapshot, 'id'>, name: string): Promise<void> {
    const { bucket } = this.#options
    // The entry goes last: what a crash leaves is listed again.
    await readBucket(async () => bucket?.delete(`backups/${id}/data.sqsh`))
    await readBucket(async () => bucket?.delete(`backups/${id}/meta.json`))
    await readBucket(async () => this.#index?.forget(name, id))
  }

  async restore(snapshot: DriverSnapshot, directory: string, limits: Limits): Promise<void> {
    const { calls, link, isLocal } = this.#options
    if (link.clock.now() >= snapshot.expiresAtMs) throw expired()
    check({ members: snapshot.members ?? 0, totalBytes: snapshot.totalBytes ?? 0 }, limits)
    await this.#checkArchive(snapshot, limits)
    await this.#empty(directory)
    const handle = { id: snapshot.id, dir: directory, ...(isLocal && { localBucket: true }) }
    try {
      await calls.make((stub) => stub.restoreBackup(handle), {
        deadlineMs: DEADLINE_MS,
        isRepeatable: true,
        ...signalOf(limits.signal),
      })
      check(await this.#measure(directory, limits.signal), limits)
    } catch (error) {
      // Half of a snapshot resembles a workspace and is none. The failure is what is reported.
      await Promise.allSettled([this.#empty(directory)])
      throw error
    }
  }

  async #checkArchive({ id }: DriverSnapshot, limits: Limits): Promise<void> {
    const { bucket } = this.#options
    if (bucket === undefined) return
    const head = await readBucket(() => readArchiveHead(bucket, id))
    if (head !== undefined) check({ members: head.members, totalBytes: 0 }, limits)
  }

  async #measure(directory: string, signal: AbortSignal | undefined): Promise<Measured> {
    const { fields, payload } = await this.#options.link.ask(measureScript(directory), {
      isRepeatable: true,
      deadlineMs: DEADLINE_MS,
      ...signalOf(signal),
    })
    const [members = 0, totalBytes = 0, inodes = 0] = fields.map(Number)
    return { members, totalBytes, inodes, path: decodeText(payload) }
  }

  async #empty(directory: string): Promise<void> {
    await this.#options.link.ask(emptyScript(directory), {
      isRepeatable: true,
      deadlineMs: DEADLINE_MS,
    })
  }
}

/** What a bucket throws is of no class of ours. */
async function readBucket<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    const detail = 'the backup bucket could not be read'
    const cause = describeCause(thrown)
    throw new DriverError('unavailable', detail, { admitted: 'yes', cause })
  }
}

function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const detail = 'the record of the snapshot is damaged'
    const cause = describeCause(thrown)
    throw new DriverError('snapshot-failed', detail, { admitted: 'no', cause })
  }
}

type Size = Pick<Measured, 'members' | 'totalBytes'>

interface Measured {
  readonly members: number
  readonly totalBytes: number
  readonly inodes: number
  /** Without links. */
  readonly path: string
}

/** What the SDK takes backups of. Of a link it would store the link alone. */
const STORABLE = ['/workspace', '/home', '/tmp', '/var/tmp', '/app']

function storable(path: string): string {
  if (STORABLE.some((root) => path === root || path.startsWith(`${root}/`))) return path
  const detail = 'the workspace is a link to a place of which there are no snapshots'
  throw new DriverError('snapshot-elsewhere', detail, { admitted: 'no' })
}

function check({ members, totalBytes }: Size, { maxMembers, maxBytes }: Limits): void {
  if (members <= maxMembers && totalBytes <= maxBytes) return
  throw new DriverError('snapshot-too-large', 'the snapshot is larger than allowed', {
    admitted: 'no',
  })
}

function expired(): DriverError {
  return new DriverError('snapshot-expired', 'the snapshot has expired', { admitted: 'no' })
}

function signalOf(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return { ...(signal !== undefined && { signal }) }
}
