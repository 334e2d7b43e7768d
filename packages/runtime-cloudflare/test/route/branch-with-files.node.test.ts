// A branch: what the Worker asks of the two objects, in which order, and what it answers when one refuses.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { RequestedSession } from '../../src/route/authenticate.ts'
import type { Caller } from '../../src/route/caller.ts'
import { readTarget } from '../../src/route/object-request.ts'
import { routeAgentRequest, type RouteAgentOptions } from '../../src/route/route-agent-request.ts'
import { later } from '../node-object.ts'

/** Node wants to be told how a body is sent that is a stream; the platform does not. */
class PlatformRequest extends Request {
  constructor(input: RequestInfo | URL, init: RequestInit | Request = {}) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types are those of the platform
    super(input, init instanceof Request ? init : ({ ...init, duplex: 'half' } as RequestInit))
  }
}

beforeEach(() => {
  vi.stubGlobal('Request', PlatformRequest)
})

const json = { 'content-type': 'application/json' }
const point = JSON.stringify({ checkpointId: 'c', workspaces: ['box', 'more'] })
const seed = '{"agentType":"a"}'

interface Asked {
  readonly session: string
  readonly request: string
  readonly body: string
  readonly headers: Headers
  readonly target: ReturnType<typeof readTarget>
}

/** What objects answer, by what they are asked; otherwise as in a branch that works. */
function objects(answers: Readonly<Record<string, () => Response>> = {}) {
  const asked: Asked[] = []
  const events: string[] = []
  const slow = (name: string): Response => {
    const cancel = async (): Promise<void> => {
      await later()
      events.push(name)
    }
    return new Response(new ReadableStream({ cancel }), { status: 201 })
  }
  const usual = (session: string, url: URL): Response => {
    const of = url.searchParams.get('workspace')
    if (url.pathname === '/branch')
      return new Response(seed, { headers: { 'x-helix-branch-files': point } })
    if (url.pathname === '/files') return new Response(`files of ${of}`)
    if (of !== null) return slow(`let go ${of}`)
    return Response.json({ sessionId: session }, { status: 201 })
  }
  const fetchOf = async (session: string, request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const stage = url.searchParams.get('stage') ?? ''
    const query = url.search.replace(stage, stage === '' ? '' : 'STAGE')
    const name = `${session}: ${request.method} ${url.pathname}${query}`
    events.push(name)
    asked.push({
      session,
      request: name,
      body: await request.text(),
      headers: request.headers,
      target: readTarget(request),
    })
    return answers[name]?.() ?? usual(session, url)
  }
  const binding = {
    idFromName: (name: string) => name,
    get: (id: string) => ({ fetch: (request: Request) => fetchOf(id, request) }),
  }
  return { env: { AGENTS: binding }, asked, events }
}

const refuse = (): Response => new Response('no', { status: 507 })

async function branch(
  body: unknown,
  parts = objects(),
  options: Partial<RouteAgentOptions<object>> = {},
) {
  const logger = new RecordingLogger()
  const caller: Caller = { userId: 'u' }
  const request = new Request('https://worker.example/agents/a/s/branch?x=1', {
    method: 'POST',
    headers: { ...json, accept: 'own', 'content-length': '7' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const given = { binding: 'AGENTS', authenticate: () => caller, logger, ...options }
  const response = await routeAgentRequest(request, parts.env, given)
  return { ...parts, logger, status: response!.status, text: await response!.text() }
}

describe('a branch', () => {
  test('brings the new object what its source gives', async () => {
    const { asked, status, text } = await branch({ sessionId: 'b', checkpointId: 'c' })
    expect([status, text]).toEqual([201, '{"sessionId":"b"}'])
    expect(asked.map(({ request, body }) => [request, body])).toEqual([
      ['s: POST /branch?x=1', '{"checkpointId":"c"}'],
      ['b: POST /start?x=1', seed],
    ])
    const caller = { userId: 'u' }
    expect(asked.map(({ target }) => target)).toEqual([
      { base: '/agents/a/s', isSeed: false, asked: { agent: 'a', caller } },
      { base: '/agents/a/b', isSeed: true, asked: { agent: 'a', caller } },
    ])
    for (const { headers } of asked) {
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('accept')).toBe('own')
      expect(headers.get('content-length')).not.toBe('7')
    }
  })

  test('has an id of its own when none is asked for, and needs no body', async () => {
    const { asked } = await branch('')
    expect(asked[0]).toMatchObject({ request: 's: POST /branch?x=1', body: '{}' })
    expect(asked[1]?.session).toMatch(/^[\da-f-]{36}$/)
  })

  test('asks the application twice: for the source, and for the start of the new session', async () => {
    const seen: unknown[] = []
    const authenticate = (_: Request, target: RequestedSession<object>): Caller => {
      const { agent, sessionId, action, isWrite } = target
      seen.push([agent, sessionId, action, isWrite])
      return { userId: sessionId }
    }
    const { asked } = await branch({ sessionId: 'b' }, objects(), { authenticate })
    expect(seen).toEqual([
      ['a', 's', 'branch', true],
      ['a', 'b', 'start', true],
    ])
    expect(asked.map(({ target }) => target.asked.caller)).toEqual([
      { userId: 's' },
      { userId: 'b' },
    ])
    const refused = await branch({ sessionId: 'b' }, objects(), {
      authenticate: (_, { action }) =>
        action === 'start' ? new Response('no', { status: 402 }) : {},
    })
    expect([refused.status, refused.text, refused.asked]).toEqual([402, 'no', []])
  })

  test.each<readonly [unknown, number, string]>([
    [{ sessionId: 'b/c' }, 400, 'invalid-session-id'],
    [{ more: 1 }, 400, 'invalid-request'],
    ['{', 400, 'invalid-json'],
    [`{"checkpointId":"${'x'.repeat(4096 - 19)}"}`, 201, ''],
    [`{"checkpointId":"${'x'.repeat(4097 - 19)}"}`, 413, 'too-large'],
  ])('%#: with a body that is none is %i %s', async (body, status, code) => {
    const answered = await branch(body)
    expect(answered.status).toBe(status)
    expect(answered.text).toContain(code)
    expect(answered.asked).toHaveLength(status === 201 ? 2 : 0)
  })

  test.each([
    [{}, 30_000],
    [{ bodyTimeoutMs: 50 }, 50],
  ])('with %o waits %i ms for its body', async (options, timeoutMs) => {
    const clock = new ManualClock()
    const request = new Request('https://worker.example/agents/a/s/branch', {
      method: 'POST',
      headers: json,
      body: new ReadableStream(),
    })
    const { env } = objects()
    const given = { binding: 'AGENTS', authenticate: (): Caller => ({}), clock, ...options }
    let isAnswered = false
    const answering = routeAgentRequest(request, env, given).finally(() => {
      isAnswered = true
    })
    await later()
    await clock.advance(timeoutMs - 1)
    await later()
    expect(isAnswered).toBe(false)
    await clock.advance(1)
    expect((await answering)?.status).toBe(408)
  })

  test('that its source refuses makes nothing', async () => {
    const parts = objects({ 's: POST /branch?x=1': refuse })
    for (const body of [{ sessionId: 'b' }, { sessionId: 'b', files: 'checkpoint' }]) {
      const { status, text } = await branch(body, parts)
      expect([status, text]).toEqual([507, 'no'])
    }
    expect(parts.asked.map(({ session }) => session)).toEqual(['s', 's'])
  })
})

describe('a branch with files', () => {
  const body = { sessionId: 'b', files: 'checkpoint' }
  const start = 'b: POST /start?stage=STAGE'

  test('takes those of each workspace to the new object, one after the other, and then its session', async () => {
    const { asked, events, status, text } = await branch(body)
    expect([status, text]).toEqual([201, '{"sessionId":"b"}'])
    expect(events).toEqual([
      's: POST /branch?x=1',
      's: GET /files?checkpointId=c&workspace=box',
      `${start}&workspace=box`,
      'let go box',
      's: GET /files?checkpointId=c&workspace=more',
      `${start}&workspace=more`,
      'let go more',
      start,
    ])
    expect(asked.map((one) => one.body)).toEqual([
      '{"files":"checkpoint"}',
      '',
      'files of box',
      '',
      'files of more',
      seed,
    ])
    expect(asked.map(({ target }) => [target.base, target.isSeed])).toEqual([
      ['/agents/a/s', false],
      ['/agents/a/s', false],
      ['/agents/a/b', true],
      ['/agents/a/s', false],
      ['/agents/a/b', true],
      ['/agents/a/b', true],
    ])
    for (const { headers, target } of asked) {
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('accept')).toBe('own')
      expect(headers.get('content-length')).not.toBe('7')
      expect(target.asked).toEqual({ agent: 'a', caller: { userId: 'u' } })
    }
  })

  test('is as large as its source: the ids of its stages differ', async () => {
    const stages: string[] = []
    for (let round = 0; round < 2; round++) {
      const parts = objects()
      const { get } = parts.env.AGENTS
      parts.env.AGENTS.get = (id) => ({
        fetch: (request) => {
          const stage = new URL(request.url).searchParams.get('stage')
          if (stage !== null) stages.push(stage)
          return get(id).fetch(request)
        },
      })
      await branch(body, parts)
    }
    expect(stages).toHaveLength(6)
    expect(new Set(stages).size).toBe(2)
  })

  test.each([
    ['s: GET /files?checkpointId=c&workspace=box', 2],
    [`${start}&workspace=box`, 3],
    [`${start}&workspace=more`, 5],
    [start, 6],
  ])('ends with what is refused: %s', async (name, count) => {
    const { status, text, asked } = await branch(body, objects({ [name]: refuse }))
    expect([status, text, asked.length]).toEqual([507, 'no', count])
  })

  test('fails when its source does not say which files', async () => {
    const parts = objects({ 's: POST /branch?x=1': () => new Response(seed) })
    const { status, logger, asked } = await branch(body, parts)
    expect([status, asked.length]).toEqual([500, 1])
    expect(logger.with('request failed')).toHaveLength(1)
  })
})
