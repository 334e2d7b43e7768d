import { HelixError } from '@helix-agents/core'
import { SqlError, type SqlErrorKind, toStateStoreError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'

const kinds: readonly SqlErrorKind[] = ['busy', 'full', 'read-only', 'io', 'closed', 'failed']

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

test('other errors are passed on', () => {
  const error = new TypeError('mine')
  expect(toStateStoreError(error, 's')).toBe(error)
})
