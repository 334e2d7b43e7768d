import { SqlError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { toSqlError } from '../src/to-sql-error.ts'

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
