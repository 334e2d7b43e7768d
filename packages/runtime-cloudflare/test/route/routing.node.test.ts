// Where the Worker takes a request, and whom it asks who sends it.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { RequestError } from '../../src/http/http-error.ts'
import type { Caller } from '../../src/route/caller.ts'
import { readTarget } from '../../src/route/object-request.ts'
import { routeAgentRequest, type RouteAgentOptions } from '../../src/route/route-agent-request.ts'

type Fetch = (request: Request) => Response | Promise<Response>

/** A binding whose objects answer as told, and that notes what it was asked for. */
function namespace(fetch: Fetch = () => new Response('ok')) {
  const asked = { requests: [] as Request[], names: [] as unknown[], hints: [] as unknown[] }
  const binding = {
    idFromName: (name: string) => (asked.names.push(name), name),
    get: (_id: string, hint: unknown) => {
      asked.hints.push(hint)
      return { fetch: async (request: Request) => (asked.requests.push(request), fetch(request)) }
    },
    jurisdiction: (where: string) => (asked.names.push(where), binding),
  }
  return { asked, env: { AGENTS: binding } }
}

const anyone = (): Caller => ({})
const base = 'https://worker.example'

async function route(
  request: Request,
  options: Partial<RouteAgentOptions<object>> = {},
  parts = namespace(),
) {
  const logger = new RecordingLogger()
  const given = { binding: 'AGENTS', authenticate: anyone, logger, ...options }
  const response = await routeAgentRequest(request, parts.env, given)
  return { response: response!, logger, ...parts.asked }
}

const errorOf = async (response: Response): Promise<unknown> =>
  (await response.json<{ error: unknown }>()).error

const requestTo = (path = '/agents/a/s/state', init: RequestInit = {}) =>
  new Request(`${base}${path}`, init)

describe('the route of a request', () => {
  test('goes to the object of its session, near or where it was asked for', async () => {
    const { response, requests, names, hints } = await route(requestTo())
    expect(await response.text()).toBe('ok')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect([names, hints]).toEqual([['s'], [{}]])
    expect(requests[0]?.url).toBe(`${base}/state`)
    const told = await route(requestTo(), { locationHint: 'weur', jurisdiction: 'eu' })
    expect([told.names, told.hints]).toEqual([['eu', 's'], [{ locationHint: 'weur' }]])
    const own = namespace(() => new Response('x', { headers: { 'cache-control': 'private' } }))
    const kept = await route(requestTo(), {}, own)
    expect(kept.response.headers.get('cache-control')).toBe('private')
  })

  test('is none for another prefix', async () => {
    const { env } = namespace()
    const options = { binding: 'AGENTS', authenticate: anyone }
    expect(await routeAgentRequest(requestTo('/other/a/s'), env, options)).toBeNull()
    expect(await routeAgentRequest(requestTo('/'), env, options)).toBeNull()
    const { response } = await route(requestTo('/bots/a/s/state'), { prefix: 'bots' })
    expect(response.status).toBe(200)
  })

  test('finds the binding of an agent, or says what is missing', async () => {
    const byName = await route(requestTo(), { binding: { a: 'AGENTS' } })
    expect(byName.response.status).toBe(200)
    for (const agent of ['b', 'toString']) {
      const { response } = await route(requestTo(`/agents/${agent}/s/state`), {
        binding: { a: 'AGENTS' },
      })
      expect([response.status, await errorOf(response)]).toEqual([
        404,
        { code: 'not-found', message: 'there is no such agent' },
      ])
    }
    const { response } = await route(requestTo(), { binding: 'GONE' })
    expect(response.status).toBe(500)
    expect(await errorOf(response)).toEqual({
      code: 'binding-missing',
      message:
        'env.GONE is no Durable Object binding: add { "name": "GONE", "class_name": "…" } to' +
        ' durable_objects.bindings in wrangler.jsonc',
    })
  })

  test('tells the operator and no client what went wrong in the Worker', async () => {
    const err = new Error('secret')
    const broken = namespace(() => Promise.reject(err))
    const { response, logger } = await route(requestTo(), {}, broken)
    expect([response.status, await errorOf(response)]).toEqual([
      500,
      { code: 'internal', message: 'the server failed; its log has the reason' },
    ])
    expect(logger.lines).toEqual([
      {
        level: 'error',
        message: 'request failed',
        fields: { err, method: 'GET', path: '/agents/a/s/state' },
      },
    ])
  })
})

const ask = async (authenticate: unknown, more: Partial<RouteAgentOptions<object>> = {}) => {
  const given = { authenticate: authenticate as RouteAgentOptions<object>['authenticate'] }
  return route(new Request(`${base}/agents/a/s/state`), { ...given, ...more })
}

describe('the application is asked who sends a request', () => {
  const of = { agent: 'a', sessionId: 's', action: 'state' }

  test('with what it is for', async () => {
    const seen: unknown[] = []
    const { response, requests } = await ask((request: Request, target: object) => {
      seen.push([request.url, target])
      return { userId: 'u' }
    })
    expect(response.status).toBe(200)
    const target = {
      ...of,
      isWrite: false,
      env: expect.any(Object),
      signal: expect.any(AbortSignal),
    }
    expect(seen).toEqual([[`${base}/agents/a/s/state`, target]])
    expect(readTarget(requests[0]!).asked).toEqual({ agent: 'a', caller: { userId: 'u' } })
  })

  test.each([null, undefined])('and %s lets nobody in', async (answer) => {
    const { response, logger } = await ask(() => answer)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await errorOf(response)).toEqual({
      code: 'unauthorized',
      message: 'the request is not authenticated',
    })
    expect(logger.lines).toEqual([])
  })

  test('and may answer itself', async () => {
    const { response, requests } = await ask(() => new Response('sign in', { status: 302 }))
    expect([response.status, await response.text(), requests]).toEqual([302, 'sign in', []])
  })

  test.each<readonly [unknown, string, object]>([
    [undefined, 'authentication-missing', { ...of, code: 'authentication-missing' }],
    [() => ({ user: 'u' }), 'caller-invalid', { ...of, code: 'caller-invalid' }],
  ])('%o is a mistake, which is logged', async (authenticate, code, fields) => {
    const { response, logger } = await ask(authenticate)
    expect([response.status, await errorOf(response)]).toMatchObject([500, { code }])
    expect(logger.lines).toEqual([{ level: 'error', message: expect.any(String), fields }])
  })

  test('what it throws is told to the operator only, unless it is meant for the client', async () => {
    const err = new Error('secret')
    const { response, logger } = await ask(() => Promise.reject(err))
    expect([response.status, await errorOf(response)]).toEqual([
      500,
      { code: 'authentication-failed', message: 'the server failed; its log has the reason' },
    ])
    expect(logger.lines).toEqual([
      { level: 'error', message: 'authenticate failed', fields: { ...of, err } },
    ])
    const meant = await ask(() => {
      throw new RequestError(402, 'unpaid', 'pay first', { details: { plan: 'x' } })
    })
    expect([meant.response.status, await errorOf(meant.response)]).toEqual([
      402,
      { code: 'unpaid', message: 'pay first', details: { plan: 'x' } },
    ])
    expect(meant.logger.lines).toEqual([])
  })

  test.each([
    [{}, 10_000],
    [{ authenticateTimeoutMs: 500 }, 500],
  ])('and has its time: %o', async (more, timeoutMs) => {
    const clock = new ManualClock()
    let signal: AbortSignal | undefined
    const asking = ask(
      (_: Request, target: { signal: AbortSignal }) => {
        signal = target.signal
        return new Promise(() => {})
      },
      { clock, ...more },
    )
    await clock.advance(timeoutMs - 1)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    const { response } = await asking
    expect(signal?.reason).toMatchObject({ code: 'authentication-timeout' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await errorOf(response)).toEqual({
      code: 'authentication-timeout',
      message: 'the authentication did not answer in time: try again',
    })
  })
})
