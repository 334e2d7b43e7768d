export {
  InMemorySnapshotStore,
  type InMemorySnapshotStoreOptions,
} from './in-memory-snapshot-store.ts'
export { InMemoryStateStore } from './in-memory-state-store.ts'
export { InMemoryStreamManager } from './in-memory-stream-manager.ts'
export type { InMemoryStreamManagerOptions } from './stream-bounds.ts'
