import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CommandError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'

/**
 * The path of a database that is there: commands make none.
 * @throws {CommandError} when there is no such file.
 */
export async function findDatabase(file: string): Promise<string> {
  const path = resolve(file)
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) throw unreachable(`there is no database ${path}: name one with --db`)
  if (!stats.isFile()) throw unreachable(`${path} is no file`)
  return path
}

function unreachable(message: string): CommandError {
  return new CommandError(exitCodes.unreachable, message)
}
