export {
  SnapshotArchiveError,
  type SnapshotArchiveErrorCode,
  type SnapshotArchiveErrorOptions,
} from './archive-error.ts'
export type { SnapshotSource } from './read-blocks.ts'
export type { SnapshotIdentity } from './snapshot-builder.ts'
export { exportTar } from './tar/export-tar.ts'
export { importTar, type ImportOptions } from './tar/import-tar.ts'
