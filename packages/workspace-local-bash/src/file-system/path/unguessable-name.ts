import { randomBytes } from 'node:crypto'

/** A random file name that cannot be guessed. */
export function unguessableName(): string {
  return randomBytes(16).toString('hex')
}
