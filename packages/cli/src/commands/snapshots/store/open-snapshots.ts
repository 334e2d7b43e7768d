import type { OpenedSnapshots } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { openBucketSnapshots } from './open-bucket.ts'
import { openSnapshotDirectory } from './open-directory.ts'
import { openServerSnapshots } from './open-server.ts'

/** How a store of snapshots is opened. */
export interface OpenSnapshotsOptions {
  /** Whether a directory, or tables, are made that are not there. */
  readonly canCreate: boolean
  /** Credentials of a bucket. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: typeof globalThis.fetch
}

/**
 * Opens the store of snapshots that a text names. No message holds a password or a key.
 * @param place a directory, `postgresql://…` or `s3://…`; undefined: the directory of local-bash.
 * @throws {CommandError} when it is none, or not there.
 * @throws {StateStoreError} `unavailable`, `schema-version`
 */
export async function openSnapshots(
  place: string | undefined,
  options: OpenSnapshotsOptions,
): Promise<OpenedSnapshots> {
  if (place === undefined) return openSnapshotDirectory(place, options)
  if (/^postgres(ql)?:/i.test(place)) return openServerSnapshots(place, options)
  if (/^s3:/i.test(place)) return openBucketSnapshots(place, options)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(place)?.[1]
  if (scheme === undefined) return openSnapshotDirectory(place, options)
  const message = `a store is a directory, postgresql://… or s3://…, and not ${scheme}://`
  throw new CommandError(exitCodes.usage, message)
}
