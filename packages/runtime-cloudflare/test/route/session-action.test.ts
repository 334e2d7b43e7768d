import { env } from 'cloudflare:workers'
import { type Caller, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { createSession, withJsonType } from '../session.ts'

const actions = [
  ['GET', '', 'state', false],
  ['GET', '/', 'state', false],
  ['GET', '/state', 'state', false],
  ['GET', '/messages', 'messages', false],
  ['GET', '/checkpoints', 'checkpoints', false],
  ['GET', '/diff', 'diff', false],
  ['GET', '/files', 'files', false],
  ['GET', '/stream', 'stream', false],
  ['GET', '/healthz', 'healthz', false],
  ['GET', '/socket', 'socket', true],
  ['POST', '/start', 'start', true],
  ['POST', '/message', 'message', true],
  ['POST', '/messages', 'message', true],
  ['POST', '/resume', 'resume', true],
  ['POST', '/interrupt', 'interrupt', true],
  ['POST', '/abort', 'abort', true],
  ['POST', '/restore', 'restore', true],
  ['POST', '/branch', 'branch', true],
  ['DELETE', '', 'delete', true],
  ['GET', '/whoami', 'other', false],
  ['HEAD', '/whoami', 'other', false],
  ['POST', '/whoami', 'other', true],
  ['GET', '/start', 'other', false],
  ['PUT', '/state', 'other', true],
  ['GET', '/state/', 'other', false],
  ['GET', '/__proto__', 'other', false],
  ['GET', '/constructor', 'other', false],
] as const

test.each(actions)('%s %s is asked for as %s, a write: %s', async (...row) => {
  const [method, path, action, isWrite] = row
  const seen: unknown[] = []
  const request = new Request(createSession().url(path), { method })
  const response = await routeAgentRequest(request, env, {
    binding: 'AGENTS',
    authenticate: (_, asked) => void seen.push([asked.action, asked.isWrite]),
  })
  expect([response?.status, seen]).toEqual([401, [[action, isWrite]]])
})

describe('a caller that may only read', () => {
  const reader: Caller = { isReadOnly: true }
  const ask = async (url: string, init: RequestInit = {}) =>
    (await routeAgentRequest(new Request(url, withJsonType(init)), env, {
      binding: 'AGENTS',
      authenticate: () => reader,
    }))!

  test.each(actions)('%s %s', async (method, path, action, isWrite) => {
    const session = createSession({ brain: () => say('hello') })
    await session.post('/start', { message: 'go' })
    await session.ended()
    const before = (await session.get('/state')).body
    const bodies: Record<string, string> = { restore: '{"checkpointId":"c"}', branch: '{}' }
    const body = bodies[action] ?? '{"message":"more"}'
    const init = method === 'POST' ? { method, body } : { method }
    const response = await ask(session.url(path), init)
    const text = await response.text()
    expect([response.status === 403, text.includes('"code":"read-only"')]).toEqual([
      isWrite,
      isWrite,
    ])
    expect((await session.get('/state')).body).toEqual(before)
  })

  test('watches over a WebSocket, and does not steer', async () => {
    const session = createSession({ brain: () => say('hello') })
    await session.post('/start', { message: 'go' })
    await session.ended()
    const response = await ask(session.url('/socket'), { headers: { upgrade: 'websocket' } })
    expect(response.status).toBe(101)
    const socket = response.webSocket!
    const received: { readonly type: string; readonly code?: string }[] = []
    const refused = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const one = JSON.parse(String(data)) as { type: string }
        received.push(one)
        if (one.type === 'refused') resolve()
      })
    })
    socket.accept()
    socket.send('{"type":"message","message":"mine"}')
    await refused
    expect(received.map(({ type }) => type).toSorted()).toEqual([
      'end',
      'output',
      'refused',
      'text_delta',
    ])
    expect(received.find(({ type }) => type === 'refused')).toMatchObject({
      error: { code: 'read-only' },
    })
  })
})
