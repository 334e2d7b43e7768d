export type { SnapshotBucket } from './block-objects.ts'
export { DOSnapshotStore, type DOSnapshotStoreOptions } from './durable-object-snapshot-store.ts'
