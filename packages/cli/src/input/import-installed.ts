import { CommandError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'

/**
 * Loads a package that only those install who use it.
 * @throws {CommandError} when it is not installed.
 */
export async function importInstalled<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    const message = `this needs a package: npm install ${name}`
    throw new CommandError(exitCodes.failure, message, { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
