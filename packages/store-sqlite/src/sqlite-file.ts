import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SqlError, type SqlErrorKind } from '@helix-agents/store-sql'

const IN_MEMORY = ':memory:'

const KINDS: ReadonlyMap<string, SqlErrorKind> = new Map(
  Object.entries<SqlErrorKind>({
    EACCES: 'read-only',
    EDQUOT: 'full',
    ENOSPC: 'full',
    EPERM: 'read-only',
    EROFS: 'read-only',
  }),
)

/**
 * The path for SQLite: absolute, since it takes some relative ones for URLs.
 * @throws {TypeError} for what is no path, such as a variable that is not set.
 */
export function toDatabasePath(path: string): string {
  if (typeof path !== 'string' || path === '') {
    const given = path === '' ? 'an empty string' : path === null ? 'null' : typeof path
    throw new TypeError(`database path must be a string, got ${given}`)
  }
  return path === IN_MEMORY ? path : resolve(path)
}

/**
 * Makes the file, and the directories above it, when they are missing: for the user only, since
 * sessions are private. SQLite gives its other files the same mode.
 * @throws {SqlError} `read-only`, `full`, `io`
 */
export function createFile(path: string): void {
  if (path === IN_MEMORY) return
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'EEXIST') throw new SqlError(KINDS.get(code) ?? 'io', code, { cause: error })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
