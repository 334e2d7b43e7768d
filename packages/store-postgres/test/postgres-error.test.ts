// What a server says in places that a test cannot bring about everywhere.
import { SqlError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { toOpenError } from '../src/open-error.ts'
import { toSqlError } from '../src/postgres-error.ts'

const failed = (code: string, message = 'failed'): Error =>
  Object.assign(new Error(message), { code })

test.each([
  ['28P01', 'denied'],
  ['28000', 'denied'],
  ['42501', 'denied'],
  ['53300', 'unreachable'],
  ['57P01', 'unreachable'],
  ['57P03', 'unreachable'],
  ['08006', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
  ['ENOTFOUND', 'unreachable'],
  ['57014', 'timeout'],
  ['40P01', 'busy'],
  ['53100', 'full'],
  ['25006', 'read-only'],
  ['XX001', 'corrupt'],
  ['54000', 'too-large'],
  ['42601', 'failed'],
])('%s is %s', (code, kind) => {
  const cause = failed(code)
  expect(toSqlError(cause)).toMatchObject({ name: 'SqlError', kind, cause })
})

test.each([
  ['Connection terminated unexpectedly', 'unreachable'],
  ['Query read timeout', 'unreachable'],
  ['timeout exceeded when trying to connect', 'unreachable'],
  ['The server does not support SSL connections', 'unreachable'],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'denied'],
])('%j is %s', (message, kind) => {
  expect(toSqlError(new Error(message))).toMatchObject({ kind })
})

test('a mistake of the program stays what it is', () => {
  const mistake = new RangeError('maxConnections')
  expect(toSqlError(mistake)).toBe(mistake)
  expect(toOpenError(mistake, 'postgresql://localhost/x')).toBe(mistake)
})

test('a wrong password names the database and not the password', () => {
  const error = toSqlError(failed('28P01', 'password authentication failed for user "me"'))
  expect(error).toBeInstanceOf(SqlError)
  expect(toOpenError(error, 'postgresql://me:secret@host:5433/x')).toMatchObject({
    code: 'unavailable',
    message: 'host:5433/x: the user or the password is wrong',
  })
})
