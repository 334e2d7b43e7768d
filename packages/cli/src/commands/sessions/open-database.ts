import { stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import type { OpenedSessions } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/**
 * Opens a session database for reading. None is ever made.
 * @throws {CommandError} when there is no such file.
 * @throws {StateStoreError} `corrupt`, `schema-version`, `unavailable`
 */
export async function openSessionDatabase(file: string): Promise<OpenedSessions> {
  const path = resolve(file)
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) throw unreachable(`there is no database ${path}: name one with --db`)
  if (!stats.isFile()) throw unreachable(`${path} is no file`)
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

function unreachable(message: string): CommandError {
  return new CommandError(exitCodes.unreachable, message)
}
