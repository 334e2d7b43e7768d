// What each kind of failure is called, word for word.
import { expect, test } from 'vitest'
import type { ModelError } from '@helix-agents/core'
import type { AskedModel } from '../src/failure/describe-problem.ts'
import { readFailure } from '../src/failure/failure-facts.ts'
import { readRetryAfter } from '../src/failure/retry-after.ts'
import { toModelError } from '../src/failure/to-model-error.ts'

const asked: AskedModel = { provider: 'open-ai.responses', modelId: 'gpt-5' }

const named = (name: string, more: object = {}): Error =>
  Object.assign(new Error('private'), { name }, more)
const network = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
const coded = (code: string, more: object = {}) => ({
  ...more,
  error: { code, message: 'private' },
})
const bad = (status: number, message: string) => ({ statusCode: status, error: { message } })

const NAMES = [
  'TimeoutError',
  'AgentDefinitionError',
  'AI_LoadAPIKeyError',
  'AuthenticationError',
  'AI_NoSuchProviderError',
  'AI_UnsupportedFunctionalityError',
  'AI_NoSuchModelError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_LoadSettingError',
  'AI_JSONParseError',
  'AI_EmptyResponseBodyError',
  'SomethingElse',
]

const CODES = [
  'insufficient_quota',
  'rate_limit_exceeded',
  'RESOURCE_EXHAUSTED',
  'overloaded_error',
  'UNAVAILABLE',
  'capacity_exceeded',
  'tool_use_failed',
  'MALFORMED_FUNCTION_CALL',
  'context_length_exceeded',
  'content_filter',
  'content_policy_violation',
  'safety',
  'moderation',
  'refusal',
  'authentication_error',
  'invalid_api_key',
  'permission_denied',
  'model_not_found',
  'billing_hard_limit_reached',
  'error',
]

const FAILURES: readonly (readonly [string, unknown, AskedModel?])[] = [
  ...[
    399, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 499, 500, 502, 503, 504, 529, 599, 600,
  ].map((status) => [`status ${status}`, { statusCode: status }] as const),
  ['a status as text', { code: '503' }],
  ['a status of another name', { status_code: 429 }],
  ['a server error that is not to be repeated', { statusCode: 500, isRetryable: false }],
  ['an unknown error that is to be repeated', named('Error', { isRetryable: true })],
  ...NAMES.map((name) => [name, named(name)] as const),
  ...CODES.map((code) => [`code ${code}`, coded(code)] as const),
  ['a quota that is used up', coded('insufficient_quota', { statusCode: 429 })],
  ['billing', coded('billing_not_active', { statusCode: 429 })],
  ...['ECONNRESET', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused', 'ENOTFOUND'].map(
    (code) => [`network ${code}`, network(code)] as const,
  ),
  ['a length in words', bad(400, 'This model has a maximum context length of 5 tokens')],
  ['a prompt that is too long', bad(422, 'Prompt is too long')],
  ['a length in words of a server error', bad(500, 'prompt is too long')],
  ['a filter in words', bad(400, 'blocked by content management policy')],
  ['a call in words', bad(400, 'Failed to call a function')],
  ['an end in words', new Error('terminated')],
  ['a model in words', bad(400, 'The model `x` does not exist'), asked],
  ['a model in words of another status', bad(422, 'unknown model'), asked],
  ['a model by code', coded('model_not_found', { statusCode: 400 }), asked],
  ['a model by name', named('AI_NoSuchModelError'), asked],
  ['an address', { statusCode: 404, url: 'https://api.test:8443/v1/secret?key=x' }, asked],
  ['an address that is none', { statusCode: 404, url: 'secret' }, asked],
  ['another status of a model', { statusCode: 400 }, asked],
  ['a limit at a wrong address', coded('rate_limit', { statusCode: 404 }), asked],
  ['a key', { statusCode: 401, url: 'https://api.test/v1' }, asked],
  ['a key of a compatible server', { statusCode: 401 }, { ...asked, provider: 'compatible.chat' }],
  ['a key of a gateway', { statusCode: 403 }, { ...asked, provider: 'gateway' }],
  ['a server that is not there', network('ECONNREFUSED'), asked],
  ['a compatible one', network('ECONNREFUSED'), { ...asked, provider: 'compatible.chat' }],
  ['one that went away', network('ECONNRESET'), asked],
  [
    'a name with line breaks',
    { statusCode: 401 },
    { provider: 'a\nb', modelId: `${'x'.repeat(90)}\n` },
  ],
  ['a wait', { statusCode: 429, responseHeaders: { 'Retry-After': '7' } }],
  ['a secret code', coded('sk-1234567890abcdef')],
]

const told = (error: ModelError): string => {
  const { code, retryable, statusCode, retryAfterMs, message, hint, cause } = error
  const { name, message: facts } = cause as Error
  return JSON.stringify({
    code,
    retryable,
    statusCode,
    retryAfterMs,
    message,
    hint,
    cause: `${name}: ${facts}`,
  })
}

test('failures, word for word', async () => {
  const lines = FAILURES.map(
    ([what, failure, model]) => `${what}\n  ${told(toModelError(failure, 0, model))}\n`,
  )
  await expect(lines.join('')).toMatchFileSnapshot('failure-codes.txt')
})

const chain = (depth: number): object =>
  Array.from({ length: depth - 1 }).reduce<object>((cause) => ({ cause }), { statusCode: 429 })

test('causes are followed five deep', () => {
  expect([readFailure(chain(5)).status, readFailure(chain(6)).status]).toEqual([429, undefined])
  expect(readFailure({ lastError: { statusCode: 429 } }).status).toBe(429)
})

test('what an operator must not read stays out, also from getters that throw', () => {
  const hostile = Object.defineProperty(new Error('x'), 'statusCode', {
    get: () => {
      throw new Error('no')
    },
  })
  expect(readFailure(hostile)).toMatchObject({ name: 'Error', text: 'x', headers: {} })
  expect(readFailure({ responseHeaders: { A: 'b', C: 1 } }).headers).toEqual({ a: 'b' })
  expect(readFailure({ responseHeaders: 'x' }).headers).toEqual({})
  expect(readFailure('Some Text').text).toBe('some text')
  expect(readFailure({ message: 'A', responseBody: 'B' }).text).toBe('a\nb')
  expect(readFailure({ name: 'Named' }).name).toBe('ProviderError')
})

test.each([
  [{ 'retry-after-ms': '0' }, 0],
  [{ 'retry-after-ms': 'Infinity', 'retry-after': '1' }, 1000],
  [{ 'retry-after-ms': '-1', 'retry-after': '1' }, 1000],
  [{ 'retry-after': '9'.repeat(400) }, undefined],
  [{ 'retry-after': ' 3' }, 3000],
  [{ 'retry-after': '2e3' }, 2_000_000],
])('%o is a wait of %s ms', (headers, ms) => {
  expect(readRetryAfter(headers as Record<string, string>, 0)).toBe(ms)
})
