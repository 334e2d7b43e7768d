export type {
  SqlDatabase,
  SqlRow,
  SqlServerStatements,
  SqlStatements,
  SqlValue,
} from './sql-database.ts'
export { SqlError, type SqlErrorKind } from './sql-error.ts'
export {
  type Additions,
  applyMigrations,
  migrate,
  type MigrateOptions,
  type Migrations,
  SCHEMA_VERSION,
  serverMigrations,
  type VersionTable,
} from './schema.ts'
export { toSqlRow } from './sql-row.ts'
export { runTogether } from './sql-database.ts'
export { fromSqlText, toSqlText } from './sql-text.ts'
export { fromStorableMessage, toStorableMessage } from './state/columns/message-json.ts'
export { releaseLeases } from './state/release-leases.ts'
export type { SessionOwner } from './state/session-owner.ts'
export { SqlStateStore } from './state/sql-state-store.ts'
export { SqlStreamManager } from './stream/sql-stream-manager.ts'
export type { SqlStreamManagerOptions } from './stream/stream-limits.ts'
export { toStateStoreError } from './state/to-state-store-error.ts'
