import { type SqlStatements, toSqlText } from '@helix-agents/store-sql'

/** Any number that no other user of advisory locks in this database has. */
const SEED = 4_720_384_726
const EXCLUSIVE = `SELECT pg_advisory_xact_lock(hashtextextended(?, ${SEED}))`
const SHARED = `SELECT pg_advisory_xact_lock_shared(hashtextextended(?, ${SEED}))`

/** What a transaction locks on a server, where others run beside it. */
export type FleetLock = 'schema' | 'create' | `lease ${string}`

/** Waits until no other transaction has this lock; this one has it until it ends. */
export function lockFleet(sql: SqlStatements, lock: FleetLock): void {
  sql.server?.lock(EXCLUSIVE, toSqlText(lock))
}

/** As `lockFleet`, beside others that share the lock. */
export function shareFleetLock(sql: SqlStatements, lock: FleetLock): void {
  sql.server?.lock(SHARED, toSqlText(lock))
}
