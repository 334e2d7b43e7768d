export {
  LocalBashInventory,
  type LocalBashInventoryOptions,
  type LocalBashInspection,
  type LocalBashResources,
} from './inventory.ts'
