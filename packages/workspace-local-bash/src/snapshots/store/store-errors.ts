import { HelixError, SnapshotStoreError, type SnapshotStoreErrorCode } from '@helix-agents/core'
import { errnoOf } from '../../file-system/map-error.ts'

const CODES: ReadonlyMap<string, SnapshotStoreErrorCode> = new Map([
  ['ENOSPC', 'storage-full'],
  ['EDQUOT', 'storage-full'],
  ['EFBIG', 'storage-full'],
])

/** What a system error means to the caller of a store; paths of the host stay in its cause. */
export function toStoreError(error: unknown): unknown {
  const errno = errnoOf(error)
  if (HelixError.isInstance(error) || errno === undefined || !/^E[A-Z0-9]+$/.test(errno)) {
    return error
  }
  const code = CODES.get(errno) ?? 'unavailable'
  return new SnapshotStoreError(code, `the directory of snapshots cannot be used: ${errno}`, {
    cause: error,
  })
}
