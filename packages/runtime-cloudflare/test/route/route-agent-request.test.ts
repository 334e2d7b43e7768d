import { env, exports } from 'cloudflare:workers'
import {
  type Authenticate,
  type Caller,
  insecureAllowAnyone,
  routeAgentRequest,
  type RouteAgentOptions,
} from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { answerOf, createSession } from '../session.ts'

type Options = RouteAgentOptions<Cloudflare.Env>

const TOKENS: Readonly<Record<string, Caller>> = {
  ann: { userId: 'ann' },
  ben: { userId: 'ben' },
  root: { isOperator: true },
}
const byToken: Authenticate<Cloudflare.Env> = (request) => {
  const [, token = ''] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  return Object.hasOwn(TOKENS, token) ? TOKENS[token] : null
}

/** A client of a Worker that asks for a token. */
function client(options: Partial<Options> = {}) {
  const { id } = createSession({ brain: () => say('hello') })
  return {
    id,
    send: async (path: string, token?: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      const request = new Request(`https://example.com/agents/tested/${id}${path}`, {
        ...init,
        headers,
      })
      const all = { binding: 'AGENTS', authenticate: byToken, ...options }
      const response = await routeAgentRequest(request, env, all)
      if (response === null) throw new Error('not routed')
      return answerOf(response)
    },
  }
}

const start = {
  method: 'POST',
  body: '{"message":"hello"}',
  headers: { 'content-type': 'application/json' },
}

describe('the path', () => {
  test.each([
    ['/', 418],
    ['/agent/tested/s/state', 418],
    ['/agentsx/tested/s/state', 418],
    ['/agents', 404],
    ['/agents/tested', 404],
    ['/agents/tested/', 400],
    ['/agents/unknown/s/state', 404],
    ['/agents/__proto__/s/state', 404],
    ['/agents/te%73ted/s/state', 404],
    ['/agents/tested/a%2Fb/state', 400],
    ['/agents/tested/a.b/state', 400],
    ['/agents/tested/%E0%A4%A/state', 400],
    [`/agents/tested/${'x'.repeat(65)}/state`, 400],
    [`/agents/tested/${'x'.repeat(64)}/state`, 404],
    ['/agents/tested/a/b/state', 404],
    ['/agents/unbound/s/state', 500],
  ])('%s is %i', async (path, status) => {
    const response = await exports.default.fetch(`https://example.com${path}`)
    expect(response.status).toBe(status)
  })

  test('may begin with another word', async () => {
    const request = new Request('https://example.com/v1/tested/s/state')
    const options = { binding: 'AGENTS', authenticate: insecureAllowAnyone }
    expect(await routeAgentRequest(request, env, options)).toBeNull()
    const response = await routeAgentRequest(request, env, { ...options, prefix: 'v1' })
    expect(response?.status).toBe(404)
  })
})

describe('authentication', () => {
  test('that is missing is a type error, and a 500 that says what to do', async () => {
    // @ts-expect-error -- the hook must be answered
    const options: Options = { binding: 'AGENTS' }
    const request = new Request('https://example.com/agents/tested/s/state')
    const answer = await answerOf((await routeAgentRequest(request, env, options))!)
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { code: 'authentication-missing' } },
    })
    expect(answer.body.error.message).toContain('insecureAllowAnyone')
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a name', 'ann'],
    ['an empty text', ''],
  ])('that answers %s is a 401', async (_, answer) => {
    const { send } = client({ authenticate: () => answer as never })
    const refused = await send('/start', 'ann', start)
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  })

  test.each([
    [{ user: 'ann' }],
    [{ userId: 7 }],
    [{ userId: '' }],
    [{ userId: 'ann', isOperator: 'no' }],
    [[]],
    [{ metadata: { large: 'x'.repeat(10_000) } }],
  ])('that answers %j lets nobody in', async (answer) => {
    const { send } = client({ authenticate: () => answer as never })
    expect((await send('/start', 'ann', start)).status).toBe(500)
  })

  test('that throws lets nobody in, and shows nothing', async () => {
    const { send } = client({
      authenticate: () => {
        throw new Error('the key is 1234')
      },
    })
    const refused = await send('/start', 'ann', start)
    expect(refused).toMatchObject({
      status: 500,
      body: { error: { code: 'authentication-failed' } },
    })
    expect(JSON.stringify(refused.body)).not.toContain('1234')
  })

  test('may answer by itself', async () => {
    const body = { error: 'not today', code: 'forbidden' }
    const { send } = client({ authenticate: () => Response.json(body, { status: 403 }) })
    expect(await send('/state')).toMatchObject({ status: 403, body })
  })

  test('is asked with the session, before anything of it is touched', async () => {
    const asked: unknown[] = []
    const { send, id } = client({
      authenticate: async (request, { agent, sessionId, env: bindings }) => {
        asked.push([new URL(request.url).pathname, agent, sessionId, bindings === env])
        return null
      },
    })
    await send('/start', 'ann', start)
    expect(asked).toEqual([[`/agents/tested/${id}/start`, 'tested', id, true]])
  })
})

describe('a session of one user', () => {
  test('is not there for another one, and there for an operator', async () => {
    const { send } = client()
    expect((await send('/start', 'ann', start)).status).toBe(202)
    for (const path of ['/state', '/messages', '/stream', '/healthz', '/whoami']) {
      expect(await send(path, 'ben')).toMatchObject({
        status: 404,
        body: { error: { code: 'not-found' } },
      })
    }
    for (const path of ['/start', '/message', '/resume', '/interrupt', '/abort']) {
      expect((await send(path, 'ben', { method: 'POST', body: '{}' })).status).toBe(404)
    }
    expect((await send('/state', 'ann')).status).toBe(200)
    expect((await send('/state', 'root')).status).toBe(200)
    expect((await send('/state')).status).toBe(401)
  })

  test('is not opened by headers of the client', async () => {
    const { send, id } = client()
    await send('/start', 'ann', start)
    const claimed = encodeURIComponent(JSON.stringify({ userId: 'ann', isOperator: true }))
    const headers = {
      'x-helix-caller': claimed,
      'x-helix-agent': 'other',
      'x-helix-base': 'https://evil.example',
      'x-partykit-room': 'another',
      'x-partykit-props': '{',
    }
    expect((await send('/state', 'ben', { headers })).status).toBe(404)
    const { status, body } = await send('/state', 'ann', { headers })
    expect([status, body.sessionId, body.agent]).toEqual([200, id, 'tested'])
    expect(body.links.self).toBe(`/agents/tested/${id}/state`)
    const whoami = await send('/whoami', 'ann', { headers })
    expect(whoami.body).toEqual({ caller: { userId: 'ann' }, sessionId: id })
  })

  test('is not opened by a request that is called past the Worker without a caller', async () => {
    const { send, id } = client()
    await send('/start', 'ann', start)
    const response = await env.AGENTS.getByName(id).fetch('https://object/state')
    expect(response.status).toBe(404)
  })

  test('has its labels', async () => {
    const caller = { userId: 'ann', tags: ['t'], metadata: { plan: 'ü' } }
    const { send } = client({ authenticate: () => caller })
    await send('/start', 'ann', start)
    expect((await send('/whoami')).body.caller).toEqual(caller)
  })
})

test('properties of partyserver that are junk do not reach it', async () => {
  const response = await env.AGENTS.getByName('props').fetch('https://object/state', {
    headers: { 'x-partykit-props': '{not json' },
  })
  expect(await answerOf(response)).toMatchObject({
    status: 404,
    body: { error: { code: 'not-found' } },
  })
})
