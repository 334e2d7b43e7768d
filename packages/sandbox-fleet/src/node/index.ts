export { openSqliteFleetStore, type SqliteFleetStore } from './open-sqlite-fleet-store.ts'
export {
  type DirectoryInventory,
  type DirectoryInspection,
  LocalBashFleetDriver,
  type LocalBashFleetDriverOptions,
} from './local-bash-fleet-driver.ts'
