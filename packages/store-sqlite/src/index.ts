export {
  openSqliteStores,
  type SqliteStores,
  type SqliteStoresOptions,
} from './open-sqlite-stores.ts'
export { SqliteDatabase, type SqliteDatabaseOptions } from './sqlite-database.ts'
