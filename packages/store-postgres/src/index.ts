export { openPostgresDatabase, type PostgresStoreParts } from './open-postgres-database.ts'
export {
  openPostgresStores,
  PostgresStateStore,
  type PostgresStores,
  type PostgresStoresOptions,
  PostgresStreamManager,
} from './open-postgres-stores.ts'
export { PostgresDatabase } from './postgres-database.ts'
export {
  type PostgresSnapshotOptions,
  PostgresSnapshotStore,
} from './snapshots/postgres-snapshot-store.ts'
export type { PostgresDatabaseOptions } from './postgres-options.ts'
