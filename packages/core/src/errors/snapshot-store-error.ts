import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `not-found`: the scope has no such snapshot. `already-exists`: another manifest has this id.
 * `missing-blocks`: blocks that a manifest names are not stored. `corrupt`: stored bytes do not
 * match their hash or cannot be read. `invalid-manifest`: a manifest breaks the format or a limit.
 * `too-large`: the workspace is over a limit of snapshots. `storage-full`: the store takes no more. `source-changed`: a file changed each time it was read.
 * `target-not-empty`: files are restored only where nothing is. `unavailable`: the store did not
 * answer.
 */
export type SnapshotStoreErrorCode =
  | 'not-found'
  | 'already-exists'
  | 'missing-blocks'
  | 'corrupt'
  | 'invalid-manifest'
  | 'too-large'
  | 'storage-full'
  | 'source-changed'
  | 'target-not-empty'
  | 'unavailable'

/** A snapshot could not be stored, read or restored; nothing was switched. */
export class SnapshotStoreError extends HelixError {
  override readonly name = 'SnapshotStoreError'
  readonly code: SnapshotStoreErrorCode
  readonly transient: boolean

  constructor(code: SnapshotStoreErrorCode, detail: string, options: HelixErrorOptions = {}) {
    super(detail, options)
    this.code = code
    this.transient = code === 'unavailable' || code === 'source-changed'
  }

  static override isInstance(value: unknown): value is SnapshotStoreError {
    return HelixError.isInstance(value) && value.name === 'SnapshotStoreError'
  }
}
