import { randomBytes } from 'node:crypto'

/** A file name that nobody can guess. */
export function unguessableName(): string {
  return randomBytes(16).toString('hex')
}
