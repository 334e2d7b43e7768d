import { chownSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresTestbedError } from './postgres-testbed-error.ts'
import type { ServerUser } from './server-user.ts'

const NAME = /^helix-pg-(?<pid>\d+)-/
const SOCKET = '.s.PGSQL.5432'
/** The longest path of a socket that every platform takes. */
const SOCKET_PATH_BYTES = 103

/**
 * Makes the folder of one server; its name says whose it is.
 *
 * @throws {PostgresTestbedError} directory-unusable
 */
export function makeServerDirectory(user: ServerUser | undefined): string {
  const parent = tmpdir()
  try {
    const directory = mkdtempSync(join(parent, `helix-pg-${process.pid}-`))
    if (user !== undefined) chownSync(directory, user.uid, user.gid)
    const bytes = Buffer.byteLength(join(directory, SOCKET))
    if (bytes <= SOCKET_PATH_BYTES) return directory
    removeDirectory(directory)
    throw new Error(`a socket in it would have a path of ${bytes} bytes`)
  } catch (cause) {
    const text = `the folder ${parent} cannot be used: ${String(cause)}. Set TMPDIR to another one`
    throw new PostgresTestbedError('directory-unusable', text, { cause })
  }
}

/** Removes the folder of a server. */
export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

/**
 * Removes the folders of servers whose process is gone. Never fails. Any user can make such a name in a
 * folder that all may write to: only folders of the server's user are removed, and no links.
 *
 * @param owner the user id of such folders.
 * @param parent where folders are made. Default: the folder of the system for temporary files.
 */
export function reapDirectories(owner: number | undefined, parent = tmpdir()): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.groups?.pid
    const isDead = pid !== undefined && !isAlive(Number(pid))
    if (isDead && isDirectoryOf(owner, join(parent, name))) tryToRemove(join(parent, name))
  }
}

function isDirectoryOf(owner: number | undefined, path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === owner
}

function tryToRemove(path: string): void {
  try {
    removeDirectory(path)
  } catch (error) {
    // Its server still writes while it ends; the next start removes it.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
