import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { createGate, say, use, waitTool } from '../scripts.ts'
import { crash, createSession } from '../session.ts'

const waitThenSay = (messages: readonly { role: string }[]) =>
  messages.at(-1)?.role === 'tool' ? say('after the wait') : use('wait', {}, `w-${messages.length}`)

describe('a session', () => {
  test('is started, seen and continued', async () => {
    const session = createSession({ brain: (messages) => say(`${messages.length}`) })
    const base = `/agents/tested/${session.id}`
    const links = {
      self: `${base}/state`,
      messages: `${base}/messages`,
      stream: `${base}/stream`,
      requests: `${base}/requests`,
    }
    const started = await session.post('/start', { message: 'hello' })
    expect(started.status).toBe(202)
    expect(started.headers.get('location')).toBe(links.self)
    expect(started.body).toEqual({ sessionId: session.id, runId: expect.any(String), links })
    expect(await session.ended()).toBe('completed')
    expect(await session.get('/state')).toMatchObject({
      status: 200,
      body: { sessionId: session.id, agent: 'tested', stepCount: 1, messageCount: 2, links },
    })
    expect((await session.post('/message', { message: 'again' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    expect((await session.post('/messages', { message: 'and again' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    const page = await session.get('/messages?offset=2&limit=1')
    expect(page.body).toEqual({
      messages: [{ role: 'user', content: 'again' }],
      total: 6,
      hasMore: true,
    })
  })

  test('keeps its files from turn to turn, and shows nothing of their refs', async () => {
    const session = createSession({
      brain: (m) => {
        if (m.length === 1)
          return use('workspace__box__write_file', { path: '/a', content: 'kept' })
        return m.length === 5 ? use('workspace__box__read_file', { path: '/a' }) : say('ok')
      },
    })
    await session.post('/start', { message: 'write' })
    await session.ended()
    const { body } = await session.get('/state')
    expect(body.workspaces).toEqual([{ name: 'box', provider: 'in-memory' }])
    expect(body).not.toHaveProperty('workspaceRefs')
    await session.post('/message', { message: 'read' })
    await session.ended()
    const messages = await session.messages()
    expect(messages[6]).toMatchObject({ role: 'tool', content: expect.stringContaining('kept') })
  })

  test('is interrupted, resumed, and aborted', async () => {
    const gate = createGate()
    const gates = [gate]
    const wait = waitTool({ ...gate, pass: (signal) => gates.at(-1)!.pass(signal) })
    const session = createSession({ tools: [wait], brain: waitThenSay })
    await session.post('/start', { message: 'go' })
    await gate.begun
    expect((await session.post('/interrupt')).status).toBe(202)
    gate.open()
    expect(await session.ended()).toBe('interrupted')
    expect(await session.post('/interrupt')).toMatchObject({
      status: 409,
      body: { error: { code: 'not-running' } },
    })
    expect((await session.post('/resume')).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    expect(await session.post('/resume')).toMatchObject({
      status: 409,
      body: { error: { code: 'not-resumable' } },
    })
    const second = createGate()
    gates.push(second)
    expect((await session.post('/resume', { message: 'more' })).status).toBe(202)
    await second.begun
    expect((await session.post('/abort')).status).toBe(202)
    expect(await session.ended()).toBe('aborted')
  })

  test('that was paused goes on with a message', async () => {
    const gate = createGate()
    const session = createSession({ tools: [waitTool(gate)], brain: waitThenSay })
    await session.post('/start', { message: 'go' })
    await gate.begun
    await session.post('/interrupt')
    gate.open()
    await session.ended()
    expect((await session.post('/message', { message: 'go on' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    const roles = (await session.messages()).map(({ role }) => role)
    expect(roles.slice(0, 4)).toEqual(['user', 'assistant', 'tool', 'user'])
  })
})

const writeThenWait = (messages: readonly unknown[]) => {
  if (messages.length === 1) return use('workspace__box__write_file', { path: '/a', content: 'a' })
  return messages.length === 3 ? use('wait') : say('ok')
}

describe('health', () => {
  test.each([
    ['built in', 'tested', env.AGENTS],
    ['of a subclass, as the runbook prints it', 'health', env.HEALTH],
  ])('%s is that of the live workspaces, also after an eviction', async (_, agent, namespace) => {
    const gate = createGate()
    const script = { tools: [waitTool(gate)], brain: writeThenWait }
    const session = createSession(script, { agent, namespace })
    const missing = { status: 404, body: { error: 'no active session' } }
    expect(await session.get('/healthz')).toMatchObject(missing)
    await session.post('/start', { message: 'go' })
    await gate.begun
    const { status, body } = await session.get('/healthz')
    expect([status, Object.keys(body)]).toEqual([200, ['workspaces']])
    expect(body.workspaces).toMatchObject([
      { name: 'box', providerId: 'in-memory', state: 'open', receipt: { outcome: 'created' } },
    ])
    await crash()
    // The first request finds the run going on.
    expect(await session.get('/healthz')).toMatchObject({ status: 200 })
    gate.open()
    await session.ended()
    expect(await session.get('/healthz')).toMatchObject(missing)
  })
})
