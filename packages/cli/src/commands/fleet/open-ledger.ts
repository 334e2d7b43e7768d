import type { OpenedLedger } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { findDatabase } from '../../input/find-database.ts'

/**
 * Opens the ledger of a fleet for reading. None is ever made.
 * @throws {CommandError} when there is no such file, or it is no ledger.
 * @throws {FleetError} `schema-version`, `unavailable`, `corrupt`
 */
export async function openLedgerDatabase(file: string): Promise<OpenedLedger> {
  const path = await findDatabase(file)
  // Only here: other commands must not wait for SQLite.
  const { openSqliteFleetStore } = await import('@helix-agents/sandbox-fleet/node')
  try {
    return await openSqliteFleetStore(path, { readOnly: true })
  } catch (error) {
    throw toCommandError(error, path)
  }
}

function toCommandError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error.name !== 'SqlError' || !('kind' in error)) return error
  const { kind } = error
  const options = { cause: error }
  // Its tables would have to be made.
  if (kind === 'read-only') {
    return new CommandError(exitCodes.unreachable, `${path} is no ledger of a fleet`, options)
  }
  const exitCode = kind === 'corrupt' ? exitCodes.findings : exitCodes.unreachable
  return new CommandError(exitCode, `${path}: ${error.message} (${String(kind)})`, options)
}
