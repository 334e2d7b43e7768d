// What a model reads of a call whose arguments cannot be read, word for word.
import type { ToolCall } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { unreadableArguments } from '../../src/call/unreadable-arguments.ts'

const errorOf = (given: unknown, problem: ToolCall['problem']) => {
  const { code, message, hint } = unreadableArguments({
    id: 'a',
    name: 'x',
    arguments: given,
    problem: problem!,
  })
  return [code, message, hint]
}
const SEVERAL = 'Nothing was done. Say it in several calls with less in each.'
const AGAIN = 'Nothing was done. Make the call again with one JSON object.'

test.each<readonly [ToolCall['problem'], unknown, string, string]>([
  [
    'truncated',
    '{"a": "b',
    'The arguments are cut off, since your answer was too long: they end with "{\\"a\\": \\"b".',
    SEVERAL,
  ],
  [
    'truncated',
    '',
    'The arguments are cut off, since your answer was too long: they are empty.',
    SEVERAL,
  ],
  ['malformed', 'a b', 'The arguments are not valid JSON: they end with "a b".', AGAIN],
  ['malformed', { a: 1 }, 'The arguments are not valid JSON: they are empty.', AGAIN],
])('%s %o: %s', (problem, given, message, hint) => {
  expect(errorOf(given, problem)).toEqual(['invalid-input', message, hint])
})

test.each(['too-deep', 'too-large'] as const)('%s: it says which', (problem) => {
  const [code, message, hint] = errorOf({ a: 1 }, problem)
  expect([code, hint]).toEqual(['invalid-input', SEVERAL])
  expect(message).toMatch(
    problem === 'too-deep' ? /^The arguments are .*deep/ : /^The arguments are larger/,
  )
})

test('of long arguments the last 200 characters are shown', () => {
  const [, message] = errorOf(`ab${'x'.repeat(199)}`, 'malformed')
  expect(message).toContain(`they end with "b${'x'.repeat(199)}"`)
})
