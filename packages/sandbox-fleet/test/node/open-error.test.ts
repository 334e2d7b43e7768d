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

const UNAVAILABLE = 'the ledger cannot be opened: '
const CHECK = 'Check the path. If it is the right one, restore a backup. The file was not changed.'

test.each([
  ['busy', `${UNAVAILABLE}another process holds its lock`, 'Try again, or raise `busyTimeoutMs`.'],
  ['full', `${UNAVAILABLE}no space is left`, 'Free space on its disk.'],
  [
    'io',
    `${UNAVAILABLE}no such file, or its disk failed`,
    'Check the path. What is only read is not made.',
  ],
  [
    'read-only',
    `${UNAVAILABLE}permission denied`,
    'The process must be able to write the file and its directory, also for reading.',
  ],
  ['corrupt', 'the ledger is no SQLite database, or is damaged', CHECK],
  ['failed', 'the database of the ledger failed (failed)', undefined],
] as const)('a ledger that is %s says what to do', (kind, message, hint) => {
  expect(toOpenError(new SqlError(kind, 'x'))).toMatchObject({ message, hint })
})
