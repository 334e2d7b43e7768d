import { env } from 'cloudflare:workers'
import {
  type CorsOptions,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { createSession, storedIn, withJsonType } from '../session.ts'

const page = 'https://app.example.com'
const cors: CorsOptions = { origins: [page] }

async function send(
  init: RequestInit & { path?: string } = {},
  options: CorsOptions | null = cors,
) {
  const session = createSession({ brain: () => say('x') })
  const request = new Request(session.url(init.path ?? '/start'), {
    method: 'POST',
    ...withJsonType(init),
  })
  const response = (await routeAgentRequest(request, env, {
    binding: 'AGENTS',
    authenticate: (_, { action }) => (action === 'abort' ? null : insecureAllowAnyone()),
    ...(options !== null && { cors: options }),
  }))!
  return { response, session }
}

const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  },
})

describe('a preflight', () => {
  test('of a page that may is answered without asking who it is', async () => {
    const { response, session } = await send({ path: '/abort', ...preflight(page) })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, last-event-id',
      vary: 'Origin',
    })
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
    expect((await storedIn(session)).keys).toEqual([])
  })

  test.each(['https://evil.example', 'null', `${page}.evil.example`, 'https://APP.example.com'])(
    'of %s is allowed nothing',
    async (origin) => {
      const { response } = await send(preflight(origin))
      expect(response.headers.has('access-control-allow-origin')).toBe(false)
      expect(response.headers.has('access-control-allow-methods')).toBe(false)
    },
  )

  test('names the headers of the application too', async () => {
    const more: CorsOptions = { ...cors, allowHeaders: ['x-tenant'] }
    const { response } = await send(preflight(page), more)
    expect(response.headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, last-event-id, x-tenant',
    )
  })

  test('without the option is a method like others', async () => {
    const { response } = await send(preflight(page), null)
    expect(response.status).toBe(405)
  })
})

test('an answer may be read by pages that may, errors too', async () => {
  const headers = { origin: page }
  const ok = await send({ headers, body: '{"message":"go"}' })
  const refused = await send({ headers, path: '/abort' })
  const bad = await send({ headers, body: '{' })
  for (const [{ response }, status] of [
    [ok, 202],
    [refused, 401],
    [bad, 400],
  ] as const) {
    expect(response.status).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe(page)
    expect(response.headers.get('access-control-expose-headers')).toBe('location, retry-after')
  }
  const { response } = await send({
    headers: { origin: 'https://evil.example' },
    body: '{"message":"go"}',
  })
  expect(response.headers.has('access-control-allow-origin')).toBe(false)
  expect(response.headers.get('vary')).toBe('Origin')
})

test('every page may, with a star; with credentials only those that are named', async () => {
  const headers = { origin: 'https://any.example' }
  const { response } = await send({ headers, body: '{"message":"go"}' }, { origins: '*' })
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  const both = await send(preflight(page), { origins: '*', allowCredentials: true })
  expect(both.response.status).toBe(500)
  const named = await send(preflight(page), { origins: [page], allowCredentials: true })
  expect(named.response.headers.get('access-control-allow-credentials')).toBe('true')
})

test('a WebSocket is connected all the same', async () => {
  const { session } = await send({ body: '{"message":"go"}' })
  const request = new Request(session.url('/socket'), {
    headers: { upgrade: 'websocket', origin: page },
  })
  const options = { binding: 'AGENTS', authenticate: insecureAllowAnyone, cors }
  expect((await routeAgentRequest(request, env, options))?.status).toBe(101)
})
