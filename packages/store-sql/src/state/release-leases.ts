import type { SqlDatabase } from '../sql-database.ts'
import { numberColumn } from './columns/column.ts'
import { toStateStoreError } from './to-state-store-error.ts'

const HELD = 'SELECT count(*) AS held FROM helix_sessions WHERE lease_until > 0'
const RELEASE = 'UPDATE helix_sessions SET lease_until = 0 WHERE lease_until > 0'

/**
 * Ends the leases of all runs, so that they can be taken over at once. Only safe where no other
 * process uses the database and no run of this one has begun: in the one instance of a Durable
 * Object, when it starts. The sessions stay `running` until they are resumed.
 * @returns the number of leases that it ended.
 * @throws {StateStoreError} `corrupt`, `unavailable`
 */
export async function releaseLeases(database: SqlDatabase): Promise<number> {
  try {
    return await database.write((sql) => {
      const row = sql.get(HELD)
      const held = row === undefined ? 0 : numberColumn(row, 'held')
      if (held > 0) sql.run(RELEASE)
      return held
    })
  } catch (error) {
    throw toStateStoreError(error, '')
  }
}
