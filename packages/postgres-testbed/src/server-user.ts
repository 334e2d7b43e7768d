import { readFileSync } from 'node:fs'
import { PostgresTestbedError } from './postgres-testbed-error.ts'

/** The ids under which the server runs. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/**
 * The server refuses to run as root: a root process runs it as `nobody`.
 *
 * @returns `undefined` where the server runs as the user of this process.
 * @throws {PostgresTestbedError} user-missing
 */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const line = readFileSync('/etc/passwd', 'utf8').match(/^nobody:[^:]*:(\d+):(\d+):/m)
  const [, uid, gid] = line ?? []
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  const text = 'PostgreSQL refuses to run as root, and /etc/passwd names no user `nobody`'
  throw new PostgresTestbedError('user-missing', text)
}
