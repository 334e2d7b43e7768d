import type { OpenedLedger } from '../../../cli-host.ts'
import { findDatabase } from '../../../input/find-database.ts'
import { importWithSqlite } from '../../../input/import-with-sqlite.ts'

/**
 * Opens the ledger of a fleet for reading. None is ever made.
 * @throws {CommandError} when there is no such file.
 * @throws {FleetError} `schema-version`, `unavailable`, `corrupt`
 */
export async function openLedgerDatabase(file: string): Promise<OpenedLedger> {
  const path = await findDatabase(file)
  const { openSqliteFleetStore } = await importWithSqlite(
    () => import('@helix-agents/sandbox-fleet/node'),
  )
  return openSqliteFleetStore(path, { readOnly: true })
}
