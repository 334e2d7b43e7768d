import { StateStoreError } from '@helix-agents/core'
import { SqlError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { isSqliteError, toSqlError, toStorageError } from '../src/to-sql-error.ts'

test.each([
  ['database or disk is full: SQLITE_FULL', 'full'],
  ['database is locked: SQLITE_BUSY', 'busy'],
  ['database disk image is malformed: SQLITE_CORRUPT (extended: SQLITE_CORRUPT_INDEX)', 'corrupt'],
  ['disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_READ)', 'io'],
  ['attempt to write a readonly database: SQLITE_READONLY', 'read-only'],
  ['no such table: t: SQLITE_ERROR', 'failed'],
  ['something else', 'failed'],
])('%s is %s', (message, kind) => {
  const cause = new Error(message)
  expect(toSqlError(cause)).toMatchObject({ kind, message, cause })
})

test('what is one already stays it', () => {
  const error = new SqlError('closed', 'x')
  expect(toSqlError(error)).toBe(error)
  expect(toSqlError('text')).toMatchObject({ kind: 'failed', message: 'text' })
})

test('what the storage throws past the stores is one of theirs', () => {
  const full = toStorageError(new Error('database or disk is full: SQLITE_FULL'), 's')
  expect(full).toMatchObject({ code: 'unavailable', sessionId: 's' })
  expect(toStorageError('text')).toMatchObject({ code: 'unavailable' })
  const conflict = new StateStoreError('conflict', 's', 'x')
  expect(toStorageError(conflict)).toBe(conflict)
})

test('only what SQLite refuses is an error of the database', () => {
  expect(isSqliteError(new Error('database or disk is full: SQLITE_FULL'))).toBe(true)
  expect(isSqliteError(new Error('mine'))).toBe(false)
  expect(isSqliteError(new StateStoreError('conflict', 's', 'SQLITE_FULL'))).toBe(false)
  expect(isSqliteError('SQLITE_FULL')).toBe(false)
})
