import type { OpenedLedger } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { findDatabase } from '../../../input/find-database.ts'
import { importWithSqlite } from '../../../input/import-with-sqlite.ts'

/**
 * Opens the ledger of a fleet for reading. None is ever made.
 * @param place the path of a SQLite file, or the URL of a PostgreSQL database.
 * @throws {CommandError} when there is no such file.
 * @throws {FleetError} `schema-version`, `unavailable`, `corrupt`
 */
export async function openLedgerDatabase(place: string): Promise<OpenedLedger> {
  if (/^postgres(ql)?:/.test(place)) return openServerLedger(place)
  const path = await findDatabase(place)
  const { openSqliteFleetStore } = await importWithSqlite(
    () => import('@helix-agents/sandbox-fleet/node'),
  )
  return openSqliteFleetStore(path, { readOnly: true })
}

async function openServerLedger(url: string): Promise<OpenedLedger> {
  const { openPostgresFleetStore } = await importServerStore()
  return openPostgresFleetStore(url, { checkOnly: true })
}

/** The client of PostgreSQL is installed by those who use it. */
async function importServerStore() {
  try {
    return await import('@helix-agents/sandbox-fleet/postgres')
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    const message = 'PostgreSQL needs a package: npm install @helix-agents/store-postgres'
    throw new CommandError(exitCodes.failure, message, { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
