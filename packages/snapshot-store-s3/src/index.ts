export type { S3SnapshotStoreOptions } from './bucket-options.ts'
export { S3SnapshotStore } from './s3-snapshot-store.ts'
