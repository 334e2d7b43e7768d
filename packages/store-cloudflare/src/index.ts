export { DurableObjectDatabase } from './durable-object-database.ts'
export {
  DOStateStore,
  DOStreamManager,
  type DurableObjectStores,
  type DurableObjectStoresOptions,
  eraseDurableObject,
  hasSqlite,
  openDurableObjectStores,
} from './durable-object-stores.ts'
export { toStorageError } from './to-sql-error.ts'
export { fromStorableMessage, toStorableMessage } from '@helix-agents/store-sql'
export type { SnapshotBucket } from './snapshots/block-objects.ts'
export {
  DOSnapshotStore,
  type DOSnapshotStoreOptions,
} from './snapshots/durable-object-snapshot-store.ts'
