import { HelixError, ModelError } from '@helix-agents/core'
import { expect, test } from 'vitest'

test('a model error says what happened, and whether it may pass', () => {
  const error = new ModelError('rate-limited', { retryAfterMs: 500, statusCode: 429 })
  expect(HelixError.isInstance(error) && ModelError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({
    name: 'ModelError',
    code: 'rate-limited',
    retryable: true,
    transient: true,
    retryAfterMs: 500,
    statusCode: 429,
    message: 'the provider of the model accepts no more calls at the moment (status 429)',
  })
})

test('what is usual for a code can be told otherwise', () => {
  expect(new ModelError('model-failed').retryable).toBe(false)
  expect(new ModelError('model-failed', { retryable: true, detail: 'oops' })).toMatchObject({
    retryable: true,
    message: 'the model call failed (oops)',
  })
})

test.each([
  [0, 0],
  [Infinity, undefined],
  [-1, undefined],
  [NaN, undefined],
])('of a wait of %s ms before another try it keeps %s', (given, kept) => {
  expect(new ModelError('overloaded', { retryAfterMs: given }).retryAfterMs).toBe(kept)
})
