// Which pages may ask: the headers of every answer, and what is refused.
import { describe, expect, test } from 'vitest'
import {
  answerPreflight,
  assertCors,
  assertOriginMayWrite,
  type CorsOptions,
  isPreflight,
  withCors,
} from '../../src/route/cors.ts'

const page = 'https://app.example.com'
const url = 'https://api.example.com/agents/a/s'
const from = (origin?: string, more: RequestInit = {}) =>
  new Request(url, { headers: origin === undefined ? {} : { origin }, ...more })

describe('the options', () => {
  test.each<CorsOptions['origins']>([
    '*',
    page,
    [page],
    [],
    ['http://localhost:3000', page],
    'chrome-extension://abcdef',
    'tauri://localhost',
  ])('%o can be used', (origins) => {
    expect(() => assertCors({ origins })).not.toThrow()
  })

  test.each<unknown>([
    `${page}/`,
    `${page}/path`,
    'app.example.com',
    'null',
    '',
    ['*'],
    [page, '*'],
    [7],
    'chrome-extension://a/b',
    'chrome-extension://a#b',
    'chrome-extension://a b',
    'HTTPS://app.example.com',
    'https://app.example.com:443',
  ])('%o cannot, and the message says how it is written', (origins) => {
    const wrong = Array.isArray(origins)
      ? (origins.find((one) => one !== page) as unknown)
      : origins
    expect(() => assertCors({ origins: origins as string })).toThrow(
      expect.objectContaining({
        status: 500,
        code: 'cors-invalid',
        message:
          `cors.origins: ${JSON.stringify(wrong)} is no origin: write it as browsers send it, such as` +
          " 'https://app.example.com', without a path; or '*' alone for every page",
      }),
    )
  })
})

describe('a write', () => {
  test.each<readonly [string | undefined, CorsOptions | undefined, boolean]>([
    [undefined, undefined, true],
    ['https://api.example.com', undefined, true],
    ['http://api.example.com', undefined, true],
    ['https://api.example.com:8443', undefined, false],
    [page, undefined, false],
    [page, { origins: [page] }, true],
    [page, { origins: page }, true],
    [page, { origins: '*' }, true],
    [page, { origins: ['https://app.example.co'] }, false],
    ['https://app.example.co', { origins: page }, false],
    ['null', { origins: [page] }, false],
    ['null', undefined, false],
  ])('of a page of %s with %o may go on: %s', (origin, cors, may) => {
    const write = () => assertOriginMayWrite(from(origin), cors)
    if (may) return write()
    expect(write).toThrow(
      expect.objectContaining({
        status: 403,
        code: 'origin-not-allowed',
        message: 'pages of this origin may not change the session: name it in cors.origins',
      }),
    )
  })
})

describe('a preflight', () => {
  test('is a question about a method', () => {
    const headers = { 'access-control-request-method': 'POST' }
    expect(isPreflight(new Request(url, { method: 'OPTIONS', headers }))).toBe(true)
    expect(isPreflight(new Request(url, { method: 'OPTIONS' }))).toBe(false)
    expect(isPreflight(new Request(url, { method: 'POST', headers }))).toBe(false)
  })

  test.each<readonly [string | undefined, CorsOptions, object]>([
    [
      page,
      { origins: [page], allowHeaders: ['x-own'], allowCredentials: true },
      {
        vary: 'Origin',
        'access-control-allow-origin': page,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization, content-type, last-event-id, x-own',
        'access-control-max-age': '7200',
      },
    ],
    [
      page,
      { origins: '*' },
      {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization, content-type, last-event-id',
        'access-control-max-age': '7200',
      },
    ],
    ['https://other.example', { origins: [page] }, { vary: 'Origin' }],
    [undefined, { origins: [page] }, { vary: 'Origin' }],
  ])('of %s with %o is answered with %o', (origin, cors, headers) => {
    const response = answerPreflight(from(origin), cors)
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toEqual(headers)
  })

  test('with cookies from everywhere is a mistake', () => {
    const cors = { origins: '*', allowCredentials: true } as const
    expect(() => answerPreflight(from(page), cors)).toThrow(
      expect.objectContaining({
        status: 500,
        code: 'cors-invalid',
        message: 'cors: credentials need a list of origins',
      }),
    )
  })
})

test.each<readonly [string | undefined, CorsOptions, object]>([
  [
    page,
    { origins: [page], allowCredentials: true },
    {
      vary: 'Accept, Origin',
      'access-control-allow-origin': page,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'location, retry-after',
    },
  ],
  [
    page,
    { origins: '*' },
    {
      vary: 'Accept',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'location, retry-after',
    },
  ],
  [undefined, { origins: [page] }, { vary: 'Accept, Origin' }],
])('an answer to a page of %s with %o has %o', async (origin, cors, headers) => {
  const answer = new Response('text', { status: 201, headers: { vary: 'Accept' } })
  const open = withCors(from(origin), answer, cors)
  expect([open.status, await open.text()]).toEqual([201, 'text'])
  const { 'content-type': _, ...own } = Object.fromEntries(open.headers)
  expect(own).toEqual(headers)
})
