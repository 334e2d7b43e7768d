import { isBuiltin } from 'node:module'
import { CommandError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'

/**
 * Loads what needs SQLite, which older versions of Node do not have. Only when it is needed: other
 * commands must not wait for it.
 * @throws {CommandError} when this Node is too old.
 */
export async function importWithSqlite<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (isBuiltin('node:sqlite')) throw cause
    const message = `databases need Node 22.18 or newer, and this is ${process.version}`
    throw new CommandError(exitCodes.failure, message, { cause })
  }
}
