// What an answer is for the run: a text, calls, or the output that was asked for.
import type { StepInput } from '@helix-agents/core'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { AnswerParts } from '../../src/answer/answer-parts.ts'
import { toStepResult } from '../../src/answer/to-step-result.ts'

const model = new MockLanguageModelV4({ provider: 'mock.chat' })
const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
const spent = { inputTokens: count, outputTokens: { total: 1, text: 1, reasoning: 0 } }

interface Given {
  readonly unified?: 'stop' | 'length' | 'tool-calls'
  readonly usage?: { readonly totalTokens: number }
  readonly responseSchema?: object
}

function resultOf(parts: AnswerParts, { unified = 'stop', usage, responseSchema }: Given = {}) {
  const end = { reason: { unified, raw: undefined }, usage: spent }
  const config = { model, ...(responseSchema !== undefined && { responseSchema }) }
  // Only the config is looked at.
  return toStepResult({ parts, end, usage }, { config } as unknown as StepInput, model)
}

function partsOf(...texts: readonly (readonly ['text' | 'reasoning', string])[]): AnswerParts {
  const parts = new AnswerParts()
  for (const [index, [kind, delta]] of texts.entries()) {
    parts.extend(kind, String(index), { delta, metadata: undefined })
  }
  return parts
}

function callOf(input: string | undefined): AnswerParts {
  const parts = partsOf(['text', 'So.'])
  parts.startInput('c', 'run')
  if (input === undefined) parts.extendInput('c', '{"a":')
  else parts.call({ type: 'tool-call', toolCallId: 'c', toolName: 'run', input })
  return parts
}

test('a text', () => {
  expect(resultOf(partsOf(['text', 'Hel'], ['text', 'lo']))).toStrictEqual({
    type: 'text',
    content: 'Hello',
    shouldStop: true,
    stopReason: 'stop',
  })
})

test('a text with what it cost and what was thought', () => {
  const usage = { totalTokens: 2 }
  const parts = partsOf(['reasoning', 'Hm'], ['text', 'Yes'])
  expect(resultOf(parts, { usage, unified: 'length' })).toStrictEqual({
    type: 'text',
    content: 'Yes',
    shouldStop: true,
    stopReason: 'length',
    usage,
    thinking: 'Hm',
    providerMetadata: {
      provider: 'mock',
      parts: [
        { kind: 'reasoning', length: 2 },
        { kind: 'text', length: 3 },
      ],
    },
  })
})

test('metadata of a part is kept for its provider', () => {
  const parts = partsOf(['text', 'Yes'])
  parts.call({
    type: 'tool-call',
    toolCallId: 'c',
    toolName: 'run',
    input: '{}',
    providerMetadata: { mock: { signature: 'x' } },
  })
  expect(resultOf(parts)).toMatchObject({
    providerMetadata: {
      provider: 'mock',
      parts: [
        { kind: 'text', length: 3 },
        { kind: 'call', length: 0, metadata: { mock: { signature: 'x' } } },
      ],
    },
  })
})

describe('calls', () => {
  test.each([
    ['{"a":1}', 'tool-calls', { arguments: { a: 1 } }],
    ['[1]', 'tool-calls', { arguments: [1] }],
    ['null', 'tool-calls', { arguments: null }],
    ['', 'tool-calls', { arguments: {} }],
    [' \n', 'stop', { arguments: {} }],
    ['{"a":', 'stop', { arguments: '{"a":', problem: 'malformed' }],
    ['{"a":', 'length', { arguments: '{"a":', problem: 'truncated' }],
    // More of it may have been to come.
    ['', 'length', { arguments: '', problem: 'truncated' }],
    ['{"a":1}', 'length', { arguments: { a: 1 } }],
    [undefined, 'stop', { arguments: '{"a":', problem: 'malformed' }],
    [undefined, 'length', { arguments: '{"a":', problem: 'truncated' }],
  ] as const)('with the input %j, ended by %s', (input, unified, call) => {
    expect(resultOf(callOf(input), { unified })).toStrictEqual({
      type: 'tool_calls',
      content: 'So.',
      stopReason: unified,
      toolCalls: [{ id: 'c', name: 'run', ...call }],
    })
  })

  test('whose input is whole, and which are not, are told apart', () => {
    const parts = new AnswerParts()
    parts.startInput('c', 'run')
    parts.extendInput('c', '{}')
    expect(resultOf(parts)).toMatchObject({
      toolCalls: [{ arguments: '{}', problem: 'malformed' }],
    })
  })

  test('go before the output that was asked for', () => {
    expect(resultOf(callOf('{}'), { responseSchema: {} }).type).toBe('tool_calls')
  })
})

describe('an output that was asked for', () => {
  const responseSchema = { type: 'object' }

  test.each(['{"a":1}', '[]', 'null', '0'])('%s', (text) => {
    const usage = { totalTokens: 2 }
    expect(resultOf(partsOf(['text', text]), { responseSchema, usage })).toStrictEqual({
      type: 'structured_output',
      output: JSON.parse(text),
      stopReason: 'stop',
      usage,
    })
    const uncounted = resultOf(partsOf(['text', text]), { responseSchema })
    expect(uncounted).not.toHaveProperty('usage')
  })

  test('that is none is a text', () => {
    expect(resultOf(partsOf(['text', 'No.']), { responseSchema })).toMatchObject({
      type: 'text',
      content: 'No.',
    })
  })
})
