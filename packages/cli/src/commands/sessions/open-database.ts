import { isBuiltin } from 'node:module'
import type { OpenedSessions } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { findDatabase } from '../../input/find-database.ts'

/**
 * Opens a session database for reading. None is ever made.
 * @throws {CommandError} when there is no such file.
 * @throws {StateStoreError} `corrupt`, `schema-version`, `unavailable`
 */
export async function openSessionDatabase(file: string): Promise<OpenedSessions> {
  const path = await findDatabase(file)
  const { openSqliteStores } = await importStores()
  return openSqliteStores(path, { readOnly: true })
}

/** Only here: other commands must not wait for SQLite, which older versions of Node do not have. */
async function importStores() {
  try {
    return await import('@helix-agents/store-sqlite')
  } catch (cause) {
    const isTooOld = !isBuiltin('node:sqlite')
    if (!isTooOld) throw cause
    const message = `sessions need Node 22.18 or newer, and this is ${process.version}`
    throw new CommandError(exitCodes.failure, message, { cause })
  }
}
