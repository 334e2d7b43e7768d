import { APICallError, LoadAPIKeyError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { readRetryAfter } from '../src/failure/retry-after.ts'
import { toModelError } from '../src/failure/to-model-error.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

function answered({ status, body, message = '', headers = {} }: Answer): APICallError {
  return new APICallError({
    message,
    url: 'https://api.test/',
    requestBodyValues: { prompt: 'private' },
    statusCode: status,
    responseHeaders: { ...headers },
    responseBody: JSON.stringify(body),
    data: body,
  })
}

const google = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code: status, status: code, message } },
})

describe('what providers say', () => {
  test.each([
    ['gemini quota', google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded'), 'rate-limited', true],
    ['gemini busy', google(503, 'UNAVAILABLE', 'The model is overloaded'), 'overloaded', true],
    [
      'gemini length',
      google(400, 'INVALID_ARGUMENT', 'input token count exceeds the maximum number of tokens'),
      'context-length',
      false,
    ],
    ['gemini key', google(403, 'PERMISSION_DENIED', 'denied'), 'unauthorized', false],
    [
      'groq tool use',
      { status: 400, body: { error: { code: 'tool_use_failed', message: 'Failed' } } },
      'malformed-tool-call',
      true,
    ],
    [
      'azure filter',
      { status: 400, body: { error: { code: 'content_filter', message: 'filtered' } } },
      'content-filtered',
      false,
    ],
    [
      'llama.cpp',
      {
        status: 400,
        message: 'the request exceeds the available context size, context length 4096',
      },
      'context-length',
      false,
    ],
    ['too large', { status: 413 }, 'context-length', false],
    ['not found', { status: 404 }, 'invalid-request', false],
    ['gateway timeout', { status: 504 }, 'timeout', true],
    ['bad gateway', { status: 502 }, 'model-failed', true],
  ] as const)('%s', (_, answer, code, retryable) => {
    expect(toModelError(answered(answer), NOW)).toMatchObject({
      code,
      retryable,
      statusCode: answer.status,
    })
  })

  test('errors in a stream, as the packages of the SDK hand them on', () => {
    const overloaded = {
      message: 'Overloaded',
      type: 'overloaded_error',
      statusCode: 529,
      isRetryable: true,
      data: {},
    }
    expect(toModelError(overloaded, NOW)).toMatchObject({ code: 'overloaded', statusCode: 529 })
    const raw = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
    expect(toModelError(raw, NOW)).toMatchObject({ code: 'rate-limited', retryable: true })
  })

  test('a missing key', () => {
    const error = new LoadAPIKeyError({ message: 'OpenAI API key is missing.' })
    expect(toModelError(error, NOW)).toMatchObject({ code: 'unauthorized', retryable: false })
  })

  test('a network below that fails', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const slow = Object.assign(new Error('connect'), { code: 'UND_ERR_HEADERS_TIMEOUT' })
    const [lost, late] = [refused, slow].map((cause) => new TypeError('fetch failed', { cause }))
    expect(toModelError(lost, NOW)).toMatchObject({ code: 'connection-lost' })
    expect(toModelError(late, NOW)).toMatchObject({ code: 'timeout' })
  })

  test('anything else fails for good', () => {
    for (const failure of [new Error('oops'), 'oops', undefined, null, 5, {}]) {
      expect(toModelError(failure, NOW)).toMatchObject({ code: 'model-failed', retryable: false })
    }
  })

  test('a quota that is used up does not come back', () => {
    const error = toModelError(
      answered({ status: 429, body: { error: { code: 'insufficient_quota', message: '' } } }),
      NOW,
    )
    expect(error).toMatchObject({ code: 'rate-limited', retryable: false })
  })
})

describe('readRetryAfter', () => {
  test.each([
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{}, undefined],
  ])('%o is %s ms', (headers, ms) => {
    expect(readRetryAfter(headers, NOW)).toBe(ms)
  })
})
