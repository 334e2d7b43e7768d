// Browsers send cookies with what a page of any site asks for.
import { env } from 'cloudflare:workers'
import { type CorsOptions, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { answerOf, createSession, withJsonType } from '../session.ts'

const page = 'https://app.example.com'
const own = 'https://example.com'

async function send(init: RequestInit & { path?: string }, cors?: CorsOptions) {
  const session = createSession({ brain: () => say('x') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const request = new Request(session.url(init.path ?? '/message'), withJsonType(init))
  return (await routeAgentRequest(request, env, {
    binding: 'AGENTS',
    authenticate: () => ({}),
    ...(cors !== undefined && { cors }),
  }))!
}

const write = (origin: string) => ({
  method: 'POST',
  body: '{"message":"more"}',
  headers: { origin },
})

describe('what changes a session', () => {
  test.each([
    ['https://evil.example', undefined, 403],
    ['null', undefined, 403],
    ['', undefined, 403],
    ['https://example.com.evil.example', undefined, 403],
    ['https://sub.example.com', undefined, 403],
    ['https://example.com:444', undefined, 403],
    [own, undefined, 202],
    [page, undefined, 403],
    [page, { origins: [page] }, 202],
    [page, { origins: page }, 202],
    ['https://app.example.co', { origins: page }, 403],
    ['https://evil.example', { origins: [page] }, 403],
    ['https://evil.example', { origins: '*' }, 202],
    [own, { origins: [page] }, 202],
  ])('of a page of %j, with %j, is %i', async (origin, cors, status) => {
    const answer = await answerOf(send(write(origin), cors))
    const code = status === 403 ? 'origin-not-allowed' : undefined
    expect([answer.status, answer.body.error?.code]).toEqual([status, code])
  })

  test.each([
    ['POST', '/interrupt', 403],
    ['POST', '/abort', 403],
    ['DELETE', '', 403],
    ['PUT', '/count', 403],
    ['GET', '/state', 200],
    ['GET', '/count', 200],
  ])('%s %s without a body, of a page of another site, is %i', async (method, path, status) => {
    const headers = { origin: 'https://evil.example' }
    expect((await send({ method, path, headers })).status).toBe(status)
  })
})

test.each([
  ['https://evil.example', undefined, 403],
  [own, undefined, 101],
  [page, { origins: [page] }, 101],
  ['https://evil.example', { origins: [page] }, 403],
])('a WebSocket of a page of %s, with %j, is %i', async (origin, cors, status) => {
  const headers = { upgrade: 'websocket', origin }
  const response = await send({ path: '/socket', headers }, cors)
  expect(response.status).toBe(status)
  response.webSocket?.accept()
  response.webSocket?.close()
})

describe('cors.origins', () => {
  test.each([
    [''],
    ['app.example.com'],
    ['https://app.example.com/'],
    ['https://app.example.com/path'],
    ['https://APP.example.com'],
    ['https://app.example.com:443'],
    ['https://app.example.com,https://b.example.com/'],
    ['null'],
    [['*']],
    [['https://app.example.com', 'evil.example']],
    [[7]],
  ])('%j is no list of origins', async (origins) => {
    const answer = await answerOf(send(write(own), { origins: origins as string }))
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'cors-invalid' } } })
    expect(answer.body.error.message).toContain('cors.origins')
  })

  test.each([['chrome-extension://abcdef'], ['http://localhost:3000'], [[]], ['*']])(
    '%j is taken',
    async (origins) => {
      expect((await send(write(own), { origins })).status).toBe(202)
    },
  )
})
