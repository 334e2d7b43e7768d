import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { defineAgent } from '@helix-agents/core'
import type { OpenedWorkspace, WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { createGate, say, type Script, use, waitTool } from '../scripts.ts'
import { crash, createSession, inObject, storedIn, type TestSession } from '../session.ts'
import { recordedSession } from '../run/recorded-session.ts'

const nothing = { tables: [], keys: [], alarm: null }
const remove = async (session: TestSession) =>
  (await session.fetch('', { method: 'DELETE' })).status

function recorded(): TestSession {
  const { brain, agents } = recordedSession()
  const script: Script = { brain: (messages, { agentType }) => brain(messages, agentType), agents }
  return createSession(script, { agent: 'recorded', namespace: env.QUICK })
}

test('a session with files, sub-agents and tables of tools leaves nothing', async () => {
  const session = recorded()
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  expect((await storedIn(session)).tables.length).toBeGreaterThan(10)
  expect(await remove(session)).toBe(204)
  expect(await storedIn(session)).toEqual(nothing)
  for (const path of ['/state', '/messages', '/stream', '/checkpoints']) {
    expect((await session.get(path)).status).toBe(404)
  }
  expect(await remove(session)).toBe(404)
})

test('its id begins anew, in the same instance and in the next', async () => {
  const session = createSession({ brain: (messages) => say(`${messages.length}`) })
  for (let turn = 0; turn < 3; turn++) {
    expect((await session.post('/start', { message: 'go' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    expect((await session.messages()).map(({ content }) => content)).toEqual(['go', '1'])
    expect(await remove(session)).toBe(204)
    if (turn === 1) await crash()
  }
  expect(await storedIn(session)).toEqual(nothing)
})

test('a run that is under way is stopped', async () => {
  const gate = createGate()
  const session = createSession({ brain: () => use('wait'), tools: [waitTool(gate)] })
  await session.post('/start', { message: 'go' })
  await gate.begun
  expect(await remove(session)).toBe(204)
  expect(await storedIn(session)).toEqual(nothing)
})

test('its readers are told', async () => {
  const gate = createGate()
  const session = createSession({ brain: () => use('wait'), tools: [waitTool(gate)] })
  await session.post('/start', { message: 'go' })
  await gate.begun
  const events = (await session.fetch('/stream')).text()
  const response = await session.fetch('/socket', { headers: { upgrade: 'websocket' } })
  const socket = response.webSocket!
  const closed = new Promise((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
  socket.accept()
  expect(await remove(session)).toBe(204)
  expect((await events).endsWith('event: end\ndata: {}\n\n')).toBe(true)
  expect(await closed).toBe(4404)
})

test('a run that was cut off and waits for its agent is not taken up any more', async () => {
  const gate = createGate()
  const { agents } = recordedSession()
  let isMissing = false
  const session = createSession(
    {
      brain: () => gate.pass().then(() => say('x')),
      agents: (ctx) => (isMissing ? [] : agents(ctx)),
    },
    { agent: 'recorded', namespace: env.QUICK },
  )
  await session.post('/start', { message: 'go' })
  await gate.begun
  isMissing = true
  await crash()
  expect((await storedIn(session)).keys).toContain(`helix:run:${session.id}`)
  isMissing = false
  await crash()
  expect(await remove(session)).toBe(204)
  gate.open()
  expect(await storedIn(session)).toEqual(nothing)
})

test('a message that comes slowly does not bring it back', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const writer = body.writable.getWriter()
  const bytes = new TextEncoder().encode('{"message":"late"}')
  const late = session.fetch('/message', { method: 'POST', body: body.readable })
  await writer.write(bytes.slice(0, 5))
  expect(await remove(session)).toBe(204)
  await writer.write(bytes.slice(5))
  await writer.close()
  const { status } = await late
  expect(status).toBe(404)
  expect(await storedIn(session)).toEqual(nothing)
})

test('two at once: both are answered, and nothing is left', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const answers = await Promise.all([remove(session), remove(session), remove(session)])
  expect(answers).toContain(204)
  for (const answer of answers) expect([204, 404, 409]).toContain(answer)
  expect(await storedIn(session)).toEqual(nothing)
})

test('files in a bucket go too', async () => {
  const content = 'x'.repeat(5000)
  const session = createSession(
    {
      brain: (messages) =>
        messages.length === 1
          ? use('workspace__files__write_file', { path: '/a.txt', content })
          : say('done'),
    },
    { agent: 'tabled', namespace: env.TABLED },
  )
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  expect((await env.FILES.list()).objects).toHaveLength(1)
  expect(await remove(session)).toBe(204)
  expect((await env.FILES.list()).objects).toEqual([])
})

describe('what cannot be ended keeps the session', () => {
  test('a workspace', async () => {
    let isBroken = true
    let closed = 0
    const inner = new InMemoryWorkspaceProvider()
    const stubborn = (opened: OpenedWorkspace): OpenedWorkspace => {
      opened.ws.close = async () => {
        if (isBroken) throw new Error('the backend does not answer')
        closed++
      }
      return { ...opened, ref: { ...opened.ref, providerId: 'stubborn' } }
    }
    const provider: WorkspaceProvider = {
      providerId: 'stubborn',
      capabilities: inner.capabilities,
      refSchemaVersion: inner.refSchemaVersion,
      open: async (_, ...rest) => stubborn(await inner.open({ kind: 'in-memory' }, ...rest)),
      resolve: async (ref, options) =>
        stubborn(await inner.resolve({ ...ref, providerId: 'in-memory' }, options)),
    }
    const session = createSession({
      brain: (messages) =>
        messages.length === 1 ? use('workspace__box__ls', { path: '/' }) : say('done'),
      providers: () => [provider],
      agents: () => [
        defineAgent({
          name: 'tested',
          llmConfig: { model: 'scripted' },
          workspaces: { box: { provider: { kind: 'stubborn' }, capabilities: { fs: true } } },
        }),
      ],
    })
    await session.post('/start', { message: 'go' })
    expect(await session.ended()).toBe('completed')
    const refused = await session.fetch('', { method: 'DELETE' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60'])
    expect(await refused.json()).toMatchObject({ error: { code: 'not-removed' } })
    expect((await session.get('/state')).body.workspaces).toHaveLength(1)
    isBroken = false
    expect([await remove(session), closed]).toEqual([204, 1])
  })

  test('what a provider still has to remove elsewhere', async () => {
    let isBroken = true
    const calls: string[] = []
    const session = createSession({
      brain: () => say('done'),
      providers: () => [
        Object.assign(new InMemoryWorkspaceProvider(), {
          providerId: 'collecting',
          nextCollectionAt: () => (isBroken ? 5 : undefined),
          collect: () => calls.push('collect'),
          deleteNamespaces: () => calls.push('delete namespaces'),
        }),
      ],
    })
    await session.post('/start', { message: 'go' })
    await session.ended()
    expect(await remove(session)).toBe(503)
    expect((await session.get('/state')).status).toBe(200)
    isBroken = false
    calls.length = 0
    expect(await remove(session)).toBe(204)
    expect(calls).toEqual(['delete namespaces', 'collect'])
  })
})

test('an object whose subclass begins with something of its own begins again', async () => {
  const session = createSession(
    { brain: () => say('x') },
    { agent: 'tabled', namespace: env.TABLED },
  )
  const rows = () =>
    inObject(session, ({ storage }) => storage.sql.exec('SELECT * FROM own').toArray().length)
  await session.post('/start', { message: 'go' })
  await session.ended()
  expect(await rows()).toBe(1)
  expect(await remove(session)).toBe(204)
  expect(await storedIn(session)).toEqual(nothing)
  await session.post('/start', { message: 'go' })
  await session.ended()
  expect(await rows()).toBe(1)
})

test('an alarm that rings meanwhile leaves nothing either', async () => {
  const gate = createGate()
  let collections = 0
  const session = createSession({
    brain: () => say('done'),
    providers: () => [
      Object.assign(new InMemoryWorkspaceProvider(), {
        providerId: 'collecting',
        nextCollectionAt: () => (collections === 0 ? 0 : undefined),
        collect: async () => {
          if (++collections === 1) await gate.pass()
        },
      }),
    ],
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await session.ended()
  expect(await remove(session)).toBe(204)
  gate.open()
  // What is left of the alarm comes before the next one.
  await inObject(session, ({ storage }) => storage.setAlarm(Date.now() + 60_000))
  await runDurableObjectAlarm(session.stub)
  expect(await storedIn(session)).toEqual(nothing)
})

test('one that is cut off leaves the session, and the next one removes it', async () => {
  const gate = createGate()
  let calls = 0
  const session = createSession({
    brain: (messages) =>
      messages.length === 1
        ? use('workspace__box__write_file', { path: '/a', content: 'x' })
        : use('wait'),
    tools: [waitTool(createGate())],
    providers: () => [
      Object.assign(new InMemoryWorkspaceProvider(), {
        providerId: 'collecting',
        nextCollectionAt: () => undefined,
        collect: () => undefined,
        deleteNamespaces: async () => {
          if (++calls === 1) await gate.pass()
        },
      }),
    ],
  })
  await session.post('/start', { message: 'go' })
  const cut = remove(session).catch(() => 'cut off')
  await gate.begun
  // What the platform has not written yet would be gone with the object.
  await inObject(session, ({ storage }) => storage.sync())
  await crash()
  await cut
  // Its run had been stopped, and is not taken up again.
  expect((await session.get('/state')).body).toMatchObject({ status: 'aborted', workspaces: [] })
  expect(await remove(session)).toBe(204)
  expect(await storedIn(session)).toEqual(nothing)
})
