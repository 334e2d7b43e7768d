export {
  openPostgresFleetStore,
  type PostgresFleetStore,
  type PostgresFleetStoreOptions,
} from './open-postgres-fleet-store.ts'
