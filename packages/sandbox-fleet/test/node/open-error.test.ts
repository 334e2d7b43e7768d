import { SqlError, type SqlErrorKind } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { toOpenError } from '../../src/node/open-error.ts'

/** What cannot be provoked everywhere, such as a file that its user may not write. */
const CODES: Readonly<Record<SqlErrorKind, string>> = {
  busy: 'unavailable',
  closed: 'unavailable',
  corrupt: 'corrupt',
  denied: 'unavailable',
  failed: 'unavailable',
  full: 'unavailable',
  io: 'unavailable',
  moved: 'unavailable',
  'read-only': 'unavailable',
  timeout: 'unavailable',
  'too-large': 'unavailable',
  unreachable: 'unavailable',
}

test.each(Object.entries(CODES))('a ledger whose database fails as %s is %s', (kind, code) => {
  const cause = new SqlError(kind as SqlErrorKind, '/home/someone/fleet.db failed')
  const error = toOpenError(cause)
  expect(error).toMatchObject({ name: 'FleetError', code, cause })
  expect((error as Error).message).not.toContain('/home')
})

test('a mistake of the program stays what it is', () => {
  const mistake = new RangeError('busyTimeoutMs')
  expect(toOpenError(mistake)).toBe(mistake)
})
