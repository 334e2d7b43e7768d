import { HelixError } from '@helix-agents/core'
import { SqlError, type SqlErrorKind, toStateStoreError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'

const kinds: readonly SqlErrorKind[] = [
  'busy',
  'full',
  'read-only',
  'io',
  'moved',
  'unreachable',
  'denied',
  'timeout',
  'closed',
  'failed',
]

for (const kind of kinds) {
  test(`${kind} is unavailable, with what to do about it`, () => {
    const cause = new SqlError(kind, '/secret/path.db is broken')
    const error = toStateStoreError(cause, 's')
    expect(error).toMatchObject({ code: 'unavailable', sessionId: 's', transient: true, cause })
    expect(HelixError.isInstance(error) && `${error.message} ${error.hint}`).not.toContain('secret')
    expect(error).toHaveProperty('hint')
  })
}

test('corrupt is corrupt', () => {
  const cause = new SqlError('corrupt', 'state cannot be read')
  const expected = { code: 'corrupt', sessionId: 's', transient: false, cause }
  expect(toStateStoreError(cause, 's')).toMatchObject(expected)
})

test('a value that is too large is not storable', () => {
  const cause = new SqlError('too-large', 'state cannot be stored')
  expect(toStateStoreError(cause, 's')).toMatchObject({
    code: 'not-storable',
    sessionId: 's',
    transient: false,
    message: expect.stringContaining('a value is larger than the database takes'),
    cause,
  })
})

test('other errors are passed on', () => {
  const error = new TypeError('mine')
  expect(toStateStoreError(error, 's')).toBe(error)
})
