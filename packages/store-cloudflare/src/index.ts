export { DurableObjectDatabase } from './durable-object-database.ts'
export {
  DOStateStore,
  DOStreamManager,
  type DurableObjectStores,
  type DurableObjectStoresOptions,
  openDurableObjectStores,
} from './durable-object-stores.ts'
