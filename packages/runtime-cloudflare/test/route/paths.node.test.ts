// What a path and a caller say, what an object gets of a request, and one that does not answer.
import { describe, expect, test } from 'vitest'
import { decodeCaller, encodeCaller, isCaller } from '../../src/route/caller.ts'
import {
  isWebSocketUpgrade,
  readTarget,
  toObjectRequest,
  withoutClientControl,
} from '../../src/route/object-request.ts'
import { sendToObject } from '../../src/route/send-to-object.ts'
import { actionOf, methodsOf, requestIdOf } from '../../src/route/session-action.ts'
import { siblingOf, toSessionPath } from '../../src/route/session-path.ts'

const base = 'https://worker.example'

test('the path names the agent, the session and what is asked', () => {
  const path = { agent: 'a', sessionId: 's', base: '/p/a/s' }
  expect(toSessionPath(['a', 's', 'x', 'y'], 'p')).toEqual({ ...path, rest: '/x/y' })
  expect(toSessionPath(['a', 's'], 'p')).toEqual({ ...path, rest: '/' })
  expect(siblingOf({ ...path, rest: '/branch' }, 'b')).toEqual({
    agent: 'a',
    sessionId: 'b',
    base: '/p/a/b',
    rest: '/start',
  })
  const longest = 'x'.repeat(64)
  expect(toSessionPath([longest, longest], 'p')).toMatchObject({ sessionId: longest })
  for (const [parts, message] of [
    [[], 'there is no such route'],
    [['a'], 'there is no such route'],
    [['', 's'], 'there is no such agent'],
    [['a b', 's'], 'there is no such agent'],
    [[`${longest}x`, 's'], 'there is no such agent'],
    [['a', ''], 'a session id is 1 to 64 letters, digits, "-" or "_"'],
    [['a', `${longest}x`], 'a session id is 1 to 64 letters, digits, "-" or "_"'],
  ] as const) {
    const isRoute = message.startsWith('there')
    const [status, code] = isRoute ? [404, 'not-found'] : [400, 'invalid-session-id']
    expect(() => toSessionPath(parts, 'p')).toThrow(
      expect.objectContaining({ status, code, message }),
    )
  }
  expect(() => siblingOf({ ...path, rest: '' }, 'b/c')).toThrow('1 to 64 letters')
})

test.each([
  ['GET', '/', 'state', false],
  ['DELETE', '/', 'delete', true],
  ['POST', '/start', 'start', true],
  ['POST', '/message', 'message', true],
  ['GET', '/messages', 'messages', false],
  ['POST', '/messages', 'message', true],
  ['POST', '/resume', 'resume', true],
  ['POST', '/interrupt', 'interrupt', true],
  ['POST', '/abort', 'abort', true],
  ['POST', '/restore', 'restore', true],
  ['POST', '/branch', 'branch', true],
  ['GET', '/checkpoints', 'checkpoints', false],
  ['GET', '/diff', 'diff', false],
  ['GET', '/files', 'files', false],
  ['GET', '/requests', 'requests', false],
  ['GET', '/requests/7', 'request', false],
  ['POST', '/requests/7', 'respond', true],
  ['GET', '/state', 'state', false],
  ['GET', '/stream', 'stream', false],
  ['GET', '/healthz', 'healthz', false],
  ['GET', '/socket', 'socket', true],
  ['HEAD', '/state', 'other', false],
  ['PUT', '/state', 'other', true],
  ['GET', '/own', 'other', false],
  ['GET', '/requests/7/8', 'other', false],
])('%s %s is %s, a write: %s', (method, path, action, isWrite) => {
  expect(actionOf(method, path)).toEqual({ action, isWrite })
})

test('a path of a request to people has an id and methods, one of the application has none', () => {
  expect(requestIdOf('/requests/7')).toBe('7')
  expect(requestIdOf('/requests')).toBe('')
  expect(methodsOf('/requests/7')).toEqual({ GET: 'request', POST: 'respond' })
  expect(methodsOf('/own')).toBeUndefined()
})

test.each<readonly [unknown, boolean]>([
  [{}, true],
  [{ userId: 'u', isOperator: true, isReadOnly: false, tags: ['x'], metadata: { y: [1] } }, true],
  [Object.create(null), true],
  [{ userId: '' }, false],
  [{ userid: 'u' }, false],
  [{ isOperator: 'yes' }, false],
  [new Error('no'), false],
  [new Map(), false],
  [Promise.resolve({}), false],
  [null, false],
  ['u', false],
])('%o is a caller: %s', (value, is) => {
  expect(isCaller(value)).toBe(is)
})

test('a caller is carried as a header of 4 096 characters at most', () => {
  const caller = { userId: 'Zoë', tags: ['a b'] }
  expect(decodeCaller(encodeCaller(caller))).toEqual(caller)
  expect(decodeCaller(null)).toEqual({})
  expect(() => decodeCaller(encodeURIComponent('{"user":"u"}'))).toThrow('names no caller')
  const frame = encodeURIComponent('{"userId":""}').length
  expect(encodeCaller({ userId: 'x'.repeat(4096 - frame) })).toHaveLength(4096)
  expect(() => encodeCaller({ userId: 'x'.repeat(4097 - frame) })).toThrow('too large for a header')
})

describe('the request of an object', () => {
  const target = { sessionId: 's', agent: 'a', base: '/agents/a/s', caller: { userId: 'u' } }

  test('begins after the session, and says who asks, whatever the client claims', async () => {
    const headers = {
      'x-partykit-props': 'mine',
      'x-helix-seed': '1',
      'x-helix-caller': 'mine',
      accept: 'x',
    }
    const request = new Request(`${base}/agents/a/s/start?x=1`, {
      method: 'POST',
      headers,
      body: 'text',
    })
    const made = toObjectRequest(request, '/start', target)
    expect([made.method, made.url]).toEqual(['POST', `${base}/start?x=1`])
    expect(await made.text()).toBe('text')
    expect(Object.fromEntries(made.headers)).toMatchObject({
      accept: 'x',
      'x-partykit-room': 's',
      'x-helix-agent': 'a',
      'x-helix-base': '/agents/a/s',
      'x-helix-caller': encodeCaller({ userId: 'u' }),
    })
    expect(made.headers.has('x-partykit-props')).toBe(false)
    expect(readTarget(made)).toEqual({
      base: '/agents/a/s',
      isSeed: false,
      asked: { caller: { userId: 'u' }, agent: 'a' },
    })
    const seed = toObjectRequest(new Request(base), '/start', { ...target, isSeed: true })
    expect(readTarget(seed).isSeed).toBe(true)
    expect(readTarget(new Request(base))).toEqual({
      base: '',
      isSeed: false,
      asked: { caller: {} },
    })
  })

  test('keeps nothing of the address of a WebSocket but where it begins', () => {
    const upgrade = { upgrade: 'WebSocket' }
    const open = (query: string) =>
      withoutClientControl(new Request(`${base}/socket${query}`, { headers: upgrade })).url
    expect(open('?token=secret&fromSequence=7')).toBe(`${base}/socket?fromSequence=7`)
    expect(open(`?fromSequence=${'1'.repeat(21)}`)).toBe(
      `${base}/socket?fromSequence=${'1'.repeat(20)}`,
    )
    expect(open('?token=secret')).toBe(`${base}/socket`)
    const plain = new Request(`${base}/state?x=1`)
    expect(withoutClientControl(plain)).toBe(plain)
    const props = new Request(`${base}/state?x=1`, { headers: { 'x-partykit-props': 'mine' } })
    const cleaned = withoutClientControl(props)
    expect([cleaned.url, cleaned.headers.has('x-partykit-props')]).toEqual([
      `${base}/state?x=1`,
      false,
    ])
    expect(isWebSocketUpgrade(new Request(base, { headers: upgrade }))).toBe(true)
    expect(isWebSocketUpgrade(new Request(base))).toBe(false)
  })
})

const stubOf = (...errors: readonly unknown[]) => {
  let count = 0
  const fetch = async (): Promise<Response> => {
    const error = errors[count]
    count += 1
    if (error !== undefined) throw error
    return new Response('ok')
  }
  return { stub: { fetch } as unknown as DurableObjectStub, counted: () => count }
}

describe('an object that does not answer', () => {
  const moved = { retryable: true }

  test('is asked again by what only reads, once', async () => {
    const { stub, counted } = stubOf(moved)
    expect(await (await sendToObject(stub, new Request(base))).text()).toBe('ok')
    expect(counted()).toBe(2)
    const twice = stubOf(moved, moved)
    await expect(sendToObject(twice.stub, new Request(base))).rejects.toBe(moved)
  })

  test('gets a copy of what may be sent again, and a body without one', async () => {
    const seen: unknown[] = []
    const fetch = async (request: Request) => (seen.push(request), new Response('ok'))
    const stub = { fetch } as unknown as DurableObjectStub
    const read = new Request(base)
    const write = new Request(base, { method: 'POST', body: 'x' })
    for (const request of [read, write]) await sendToObject(stub, request)
    expect([seen[0] === read, seen[1] === write]).toEqual([false, true])
  })

  test.each([
    ['a write', new Request(base, { method: 'POST' })],
    ['a WebSocket', new Request(base, { headers: { upgrade: 'websocket' } })],
  ])('is unavailable for %s', async (_, request) => {
    const { stub, counted } = stubOf(moved)
    await expect(sendToObject(stub, request)).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      message: 'the session is being moved: try again',
      headers: { 'retry-after': '1' },
    })
    expect(counted()).toBe(1)
  })

  test.each([
    [{ retryable: true, overloaded: true }],
    [{ retryable: false }],
    [{}],
    [null],
    ['text'],
    [new Error('no')],
  ])('for another reason, %o, is not asked again', async (error) => {
    const { stub, counted } = stubOf(error)
    await expect(sendToObject(stub, new Request(base))).rejects.toBe(error)
    expect(counted()).toBe(1)
  })

  test('and is no server is a mistake of the deployment', async () => {
    for (const text of ['does not export a `fetch()`', 'does not define a fetch()']) {
      const { stub } = stubOf(new Error(`The class ${text} handler`))
      await expect(sendToObject(stub, new Request(base))).rejects.toMatchObject({
        status: 500,
        code: 'class-invalid',
        message: expect.stringContaining('names a class made by createAgentServer'),
      })
    }
  })
})
