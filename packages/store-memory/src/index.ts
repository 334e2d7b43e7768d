export { InMemoryStateStore } from './in-memory-state-store.ts'
export {
  InMemoryStreamManager,
  type InMemoryStreamManagerOptions,
} from './in-memory-stream-manager.ts'
