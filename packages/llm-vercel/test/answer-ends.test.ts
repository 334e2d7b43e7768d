import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import type { StepInput } from '@helix-agents/core'
import { fetchWithinOrigin } from '@helix-agents/llm-vercel'
import { MockLanguageModelV4 } from 'ai/test'
import { afterEach, expect, test, vi } from 'vitest'
import { AnswerParts } from '../src/answer/answer-parts.ts'
import { toStepResult } from '../src/answer/to-step-result.ts'

const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
const usage = { inputTokens: count, outputTokens: { total: 1, text: 1, reasoning: 0 } }

function endOf(unified: LanguageModelV4FinishReason['unified'], raw?: string): unknown {
  const end = { reason: { unified, raw }, usage }
  const input = { config: {} } as unknown as StepInput
  try {
    return toStepResult(
      { parts: new AnswerParts(), end, usage: undefined },
      input,
      new MockLanguageModelV4(),
    )
  } catch (error) {
    return error
  }
}

test.each([
  ['content-filter', undefined, { code: 'content-filtered', retryable: false }],
  ['content-filter', 'SAFETY', { message: expect.stringContaining('(SAFETY)') }],
  ['interrupted', 'x', { code: 'connection-lost', retryable: true }],
  ['other', undefined, { code: 'connection-lost', retryable: true }],
  ['other', 'pause_turn', { type: 'text', stopReason: 'other' }],
  ['error', undefined, { code: 'model-failed', retryable: true }],
  ['error', 'MALFORMED_FUNCTION_CALL', { code: 'malformed-tool-call', retryable: true }],
  ['error', 'tool_use_failed', { code: 'malformed-tool-call', retryable: true }],
  ['error', 'some sentence of it', { message: 'the model call failed' }],
  ['stop', undefined, { type: 'text', content: '', stopReason: 'stop', shouldStop: true }],
] as const)('an answer that ends with %s, %s', (unified, raw, expected) => {
  expect(endOf(unified, raw)).toMatchObject(expected)
})

afterEach(() => {
  vi.unstubAllGlobals()
})

test('the body of a redirect is let go before its target is asked', async () => {
  const order: string[] = []
  const body = new ReadableStream({
    cancel: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      order.push('let go')
    },
  })
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    order.push(url)
    if (url.endsWith('/to')) return new Response('fine')
    return new Response(body, { status: 307, headers: { location: '/to' } })
  })
  const response = await fetchWithinOrigin('http://model.test/from', { method: 'POST', body: 'x' })
  expect(await response.text()).toBe('fine')
  expect(order).toEqual(['http://model.test/from', 'let go', 'http://model.test/to'])
})
