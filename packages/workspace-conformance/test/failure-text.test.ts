import { ToolInputError } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { rejectionOf, rejectsAborted, rejectsWithCode } from '../src/assert.ts'

test('a call that should be refused and succeeds is named with the expected code and its result', async () => {
  const stat = { path: '/a', size: 1 }
  await expect(rejectsWithCode(['path-escape', 'not-found'], async () => stat)).rejects.toThrow(
    'expected an error with code path-escape or not-found, but the call succeeded with {"path":"/a","size":1}',
  )
  await expect(rejectsWithCode('lost', async () => ({ ws: {}, ref: {} }))).rejects.toThrow(
    'expected an error with code lost, but the call succeeded with { ws, ref }',
  )
  await expect(rejectsWithCode('lost', async () => new Uint8Array(2))).rejects.toThrow(
    'with Uint8Array',
  )
  await expect(rejectsAborted(new Error('stop'), async () => undefined)).rejects.toThrow(
    'expected the reason of the abort, but the call succeeded with undefined',
  )
  await expect(rejectionOf(async () => 7)).rejects.toThrow('expected a rejection')
})

test('a call that is refused otherwise is named with both codes', async () => {
  const refused = new ToolInputError('invalid-input', 'no')
  await expect(rejectsWithCode('lost', () => Promise.reject(refused))).rejects.toThrow(
    'expected an error with code lost, got invalid-input',
  )
})
