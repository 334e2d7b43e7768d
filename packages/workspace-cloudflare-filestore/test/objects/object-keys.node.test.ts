import { expect, test } from 'vitest'
import {
  checkKeyPrefix,
  MAX_KEY_BYTES,
  MAX_KEY_PREFIX_BYTES,
  objectKey,
} from '../../src/objects/object-keys.ts'

test('a prefix leaves room for the rest of the longest key, and no more', () => {
  const longest = 'x'.repeat(MAX_KEY_PREFIX_BYTES)
  const object = { hash: 'a'.repeat(64), id: Number.MAX_SAFE_INTEGER }
  expect(objectKey(longest, `fs-${'0'.repeat(32)}`, object).length).toBe(MAX_KEY_BYTES)
  for (const prefix of [longest, 'a', 'a/b', '\u00e9'.repeat(MAX_KEY_PREFIX_BYTES / 2)]) {
    expect(checkKeyPrefix(prefix)).toBe(prefix)
  }
  const bad = ['', '/', '/a', 'a/', '\ud800', `${longest}x`, `${longest.slice(1)}\u00e9`]
  for (const prefix of bad) {
    expect(() => checkKeyPrefix(prefix)).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: expect.stringContaining(`r2Prefix must be 1 to ${MAX_KEY_PREFIX_BYTES} bytes`),
      }),
    )
  }
})
