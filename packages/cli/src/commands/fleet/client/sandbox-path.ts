import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'

/**
 * The path of a sandbox in the API.
 * @throws {CommandError} for an id that would name another address.
 */
export function pathOf(id: string, part?: 'logs' | 'resources'): string {
  if (id === '' || id === '.' || id === '..') {
    throw new CommandError(exitCodes.usage, `${JSON.stringify(id)} is no id of a sandbox`)
  }
  const path = `/api/sandbox/${encodeURIComponent(id)}`
  return part === undefined ? path : `${path}/${part}`
}
