import { describe, expect, test } from 'vitest'
import { ModelError } from '../../src/errors/model-error.ts'
import { contentLimits } from '../../src/llm/content-limits.ts'
import { readStepResult } from '../../src/llm/read-step-result.ts'

const { maxCharacters, maxIdCharacters, maxToolCalls } = contentLimits
const large = 'x'.repeat(maxCharacters)
const text = { type: 'text', content: 'x', shouldStop: true }
const call = { id: 'c', name: 't', arguments: {} }
const calls = (...toolCalls: readonly unknown[]) => ({ type: 'tool_calls', toolCalls })

/** A hole is a call, too. */
const withHole = Object.assign([call], { length: 3, 2: call })

const failed = (code: string, detail?: string) => {
  const error = new ModelError(code as never, detail === undefined ? {} : { detail })
  return { type: 'error', error, shouldStop: !error.retryable }
}

describe('what fits is returned as it is', () => {
  test.each([
    text,
    { ...text, content: large },
    { ...text, thinking: 'x', providerMetadata: { a: 1 } },
    calls(call),
    { ...calls(call), content: 'x', thinking: 'x' },
    calls(...Array.from({ length: maxToolCalls }, () => call)),
    calls({ ...call, name: 'x'.repeat(maxIdCharacters), id: 'x'.repeat(maxIdCharacters) }),
    { type: 'structured_output', output: { a: 1 } },
    { type: 'error', error: 'x', shouldStop: false },
  ])('%#', (answer) => {
    expect(readStepResult(answer)).toBe(answer)
  })
})

describe('what cannot be kept is an error', () => {
  const noText = 'the text of the answer is no text'
  test.each([
    ['no step', undefined, failed('model-failed', 'the adapter gave no step')],
    ['null', null, failed('model-failed', 'the adapter gave no step')],
    ['no text', { ...text, content: 1 }, failed('model-failed', noText)],
    ['no thought', { ...text, thinking: 1 }, failed('model-failed', noText)],
    ['a long text', { ...text, content: `${large}x` }, failed('answer-too-large')],
    ['a long thought', { ...text, content: large, thinking: 'x' }, failed('answer-too-large')],
    ['much metadata', { ...text, content: large, providerMetadata: 1 }, failed('answer-too-large')],
    [
      'metadata that is no JSON',
      { ...text, providerMetadata: 1n },
      failed('model-failed', 'the answer is no plain JSON'),
    ],
    [
      'no list of calls',
      { ...calls(), toolCalls: {} },
      failed('malformed-tool-call', 'the calls are no list'),
    ],
    [
      'many calls',
      calls(...Array.from({ length: maxToolCalls + 1 }, () => call)),
      failed('answer-too-large'),
    ],
    ['a call that is none', calls(call, 1), failed('malformed-tool-call', 'a call is no object')],
    [
      'a hole',
      { ...calls(), toolCalls: withHole },
      failed('malformed-tool-call', 'a call is no object'),
    ],
    [
      'a call without a name',
      calls({ id: 'c' }),
      failed('malformed-tool-call', 'a call names no tool'),
    ],
    [
      'an empty name',
      calls({ ...call, name: '' }),
      failed('malformed-tool-call', 'a call names no tool'),
    ],
    [
      'a long name',
      calls({ ...call, name: 'x'.repeat(maxIdCharacters + 1) }),
      failed('malformed-tool-call', 'the name of a tool is too long'),
    ],
    [
      'an id that is no text',
      calls({ ...call, id: 1 }),
      failed('malformed-tool-call', 'the id of a call is no text'),
    ],
    [
      'calls with a text that is none',
      { ...calls(call), content: 1 },
      failed('model-failed', noText),
    ],
    [
      'calls with a long text',
      { ...calls(call), content: `${large}x` },
      failed('answer-too-large'),
    ],
    ['a large output', { type: 'structured_output', output: large }, failed('answer-too-large')],
    [
      'an output that is no JSON',
      { type: 'structured_output', output: 1n },
      failed('model-failed', 'the answer is no plain JSON'),
    ],
  ])('%s', (_what, answer, expected) => {
    expect(readStepResult(answer)).toEqual(expected)
  })

  test('an answer that throws', () => {
    const cause = new Error('hostile')
    const answer = {
      get type(): string {
        throw cause
      },
    }
    const { error, shouldStop } = readStepResult(answer) as {
      error: ModelError
      shouldStop: boolean
    }
    expect(error).toMatchObject({
      code: 'model-failed',
      message: expect.stringContaining('cannot be read'),
    })
    expect([error.cause, shouldStop]).toEqual([cause, true])
  })
})

const readCalls = (...toolCalls: readonly unknown[]) =>
  (
    readStepResult({ ...calls(...toolCalls), content: 'said' }) as {
      toolCalls: readonly unknown[]
    }
  ).toolCalls

describe('calls that cannot be run keep their name, and lose their arguments', () => {
  test.each([
    ['too-large', 'x'.repeat(maxCharacters)],
    ['malformed', 1n],
    ['too-deep', Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1)],
  ])('%s', (problem, given) => {
    expect(readCalls(call, { ...call, arguments: given })).toEqual([
      call,
      { id: 'c', name: 't', arguments: {}, problem },
    ])
  })

  test('an id that no store takes is left to the plan', () => {
    const { id: _, ...withoutId } = call
    expect(readCalls(withoutId, { ...call, id: 'x'.repeat(maxIdCharacters + 1) })).toEqual([
      { ...call, id: '' },
      { ...call, id: '' },
    ])
  })

  test('the rest of the answer stays', () => {
    const answer = { ...calls({ ...call, id: undefined }), content: 'said', stopReason: 'x' }
    expect(readStepResult(answer)).toEqual({ ...answer, toolCalls: [{ ...call, id: '' }] })
  })
})
