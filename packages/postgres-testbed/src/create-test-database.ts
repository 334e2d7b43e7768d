import { createDatabaseOn, type TestDatabase } from './test-database.ts'
import { startTestPostgres, type TestPostgres } from './test-postgres.ts'

let shared: Promise<TestPostgres> | undefined

/**
 * Makes an empty database: on the server that `DATABASE_URL` names, else on one that all callers of this
 * process share, which the first of them starts and which ends with the process.
 *
 * @throws {PostgresTestbedError} as `startTestPostgres` does.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = process.env.DATABASE_URL
  if (url !== undefined && url !== '') return createDatabaseOn(url)
  shared ??= startTestPostgres()
  return (await shared).createDatabase()
}
