import type { OpenedLedger } from '../../../cli-host.ts'
import { findDatabase } from '../../../input/find-database.ts'
import { importInstalled } from '../../../input/import-installed.ts'
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
  const { openPostgresFleetStore } = await importInstalled(
    '@helix-agents/store-postgres',
    () => import('@helix-agents/sandbox-fleet/postgres'),
  )
  return openPostgresFleetStore(url, { checkOnly: true })
}
