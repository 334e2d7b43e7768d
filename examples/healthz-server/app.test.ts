import { describe, expect, test } from 'vitest'
import { createHarness, createGate, json, say, use, waitThenSay } from './harness.ts'

describe('a session', () => {
  test('is started, seen and continued', async () => {
    const { post, get, ended } = createHarness({ brain: (messages) => say(`${messages.length}`) })
    const started = await post('/sessions', { message: 'hello', sessionId: 's-1' })
    expect(started.status).toBe(202)
    expect(started.headers.get('location')).toBe('/sessions/s-1')
    const links = {
      self: '/sessions/s-1',
      messages: '/sessions/s-1/messages',
      stream: '/sessions/s-1/stream',
    }
    expect(await started.json()).toEqual({ sessionId: 's-1', runId: expect.any(String), links })
    expect(await ended('s-1')).toBe('completed')
    expect(await json(get('/sessions/s-1'))).toMatchObject({
      status: 200,
      body: { sessionId: 's-1', status: 'completed', stepCount: 1, messageCount: 2, links },
    })
    expect((await post('/sessions/s-1/messages', { message: 'again' })).status).toBe(202)
    expect(await ended('s-1')).toBe('completed')
    expect(await json(get('/sessions/s-1/messages?offset=2&limit=1'))).toEqual({
      status: 200,
      body: { messages: [{ role: 'user', content: 'again' }], total: 4, hasMore: true },
    })
  })

  test('gets an id when none is given', async () => {
    const { post, get } = createHarness()
    const { body } = await json<{ links: { self: string } }>(
      post('/sessions', { message: 'hello' }),
    )
    expect((await get(body.links.self)).status).toBe(200)
  })

  test('shows its workspaces by name and provider, and nothing of their refs', async () => {
    const write = { path: '/a.txt', content: 'kept' }
    const { post, get, ended, stateStore } = createHarness({
      brain: (m) => (m.length === 1 ? use('workspace__box__write_file', write) : say('ok')),
    })
    await post('/sessions', { message: 'write', sessionId: 's' })
    await ended('s')
    const { body } = await json<{ workspaces: object }>(get('/sessions/s'))
    expect(body.workspaces).toEqual([{ name: 'box', provider: 'in-memory' }])
    const ref = (await stateStore.loadSession('s'))?.workspaceRefs.box?.ref
    expect(ref).toBeDefined()
    expect(JSON.stringify(body)).not.toContain(JSON.stringify(ref))
    expect(Object.keys(body)).not.toContain('workspaceRefs')
  })

  test('keeps its files from turn to turn', async () => {
    const { post, get, ended } = createHarness({
      brain: (m) => {
        if (m.length === 1)
          return use('workspace__box__write_file', { path: '/a', content: 'kept' })
        if (m.length === 5) return use('workspace__box__read_file', { path: '/a' })
        return say('ok')
      },
    })
    await post('/sessions', { message: 'write', sessionId: 's' })
    await ended('s')
    await post('/sessions/s/messages', { message: 'read' })
    await ended('s')
    const { body } = await json<{ messages: object[] }>(
      get('/sessions/s/messages?offset=6&limit=1'),
    )
    expect(body.messages[0]).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('kept'),
    })
  })

  test('is interrupted, resumed, and aborted', async () => {
    const { tool, begun, open } = createGate()
    const { post, get, ended } = createHarness({ tools: [tool], brain: waitThenSay })
    await post('/sessions', { message: 'go', sessionId: 's' })
    await begun
    expect((await post('/sessions/s/interrupt')).status).toBe(202)
    open()
    expect(await ended('s')).toBe('interrupted')
    expect(await json(post('/sessions/s/interrupt'))).toMatchObject({
      status: 409,
      body: { error: { code: 'not-running' } },
    })
    expect((await post('/sessions/s/resume')).status).toBe(202)
    expect(await ended('s')).toBe('completed')
    expect(await json(post('/sessions/s/resume'))).toMatchObject({
      status: 409,
      body: { error: { code: 'not-resumable' } },
    })
    expect((await post('/sessions/s/resume', { message: 'more' })).status).toBe(202)
    expect((await post('/sessions/s/abort')).status).toBe(202)
    expect(await ended('s')).toBe('aborted')
    expect(await json(get('/sessions/s'))).toMatchObject({ body: { status: 'aborted' } })
  })

  test('that was paused resumes with a message', async () => {
    const { tool, begun, open } = createGate()
    const { post, get, ended } = createHarness({ tools: [tool], brain: waitThenSay })
    await post('/sessions', { message: 'go', sessionId: 's' })
    await begun
    await post('/sessions/s/interrupt')
    open()
    await ended('s')
    expect((await post('/sessions/s/messages', { message: 'go on' })).status).toBe(202)
    expect(await ended('s')).toBe('completed')
    const { body } = await json<{ messages: { role: string }[] }>(get('/sessions/s/messages'))
    const roles = body.messages.map(({ role }) => role)
    expect(roles.slice(0, 4)).toEqual(['user', 'assistant', 'tool', 'user'])
  })
})

describe('health', () => {
  test('of a session is that of its live workspaces, as the runbook has it', async () => {
    const { tool, begun, open } = createGate()
    const { post, get, ended } = createHarness({
      tools: [tool],
      brain: (m) => {
        if (m.length === 1) return use('workspace__box__write_file', { path: '/a', content: 'a' })
        return m.length === 3 ? use('wait') : say('ok')
      },
    })
    await post('/sessions', { message: 'go', sessionId: 's' })
    await begun
    const { status, body } = await json<{ workspaces: object }>(get('/healthz/s'))
    expect([status, Object.keys(body)]).toEqual([200, ['workspaces']])
    expect(body.workspaces).toMatchObject([
      { name: 'box', providerId: 'in-memory', state: 'open', receipt: { outcome: 'created' } },
    ])
    open()
    await ended('s')
    const missing = { status: 404, body: { error: 'no active session' } }
    expect(await json(get('/healthz/s'))).toEqual(missing)
    expect(await json(get('/healthz/none'))).toEqual(missing)
  })

  test('of the process says when it stops', async () => {
    const { get, closing } = createHarness()
    expect(await json(get('/healthz'))).toMatchObject({ status: 200, body: { status: 'ok' } })
    closing.abort()
    expect(await json(get('/healthz'))).toEqual({ status: 503, body: { status: 'stopping' } })
  })
})
