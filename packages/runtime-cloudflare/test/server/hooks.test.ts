import { RequestError, type TurnRequest } from '@helix-agents/runtime-cloudflare'
import { expect, test, vi } from 'vitest'
import { createGate, say, use, waitTool } from '../scripts.ts'
import { createSession } from '../session.ts'

test('hooks see the turns that clients ask for, and not what goes on by itself', async () => {
  const seen: unknown[] = []
  const note =
    (name: string) =>
    ({ agent, message, executionState, ...rest }: TurnRequest): void => {
      const runId = 'runId' in rest ? typeof rest.runId : undefined
      seen.push([name, agent, message, executionState.isExecuting, runId])
    }
  const gate = createGate()
  const session = createSession({
    tools: [waitTool(gate)],
    brain: (messages) => (messages.length === 1 ? use('wait') : say('done')),
    hooks: {
      beforeStart: note('beforeStart'),
      afterStart: note('afterStart'),
      beforeResume: note('beforeResume'),
      afterResume: note('afterResume'),
    },
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await session.post('/interrupt')
  gate.open()
  await session.ended()
  await session.post('/resume')
  await session.ended()
  await session.post('/message', { message: 'next' })
  await session.ended()
  expect(seen).toEqual([
    ['beforeStart', 'tested', 'go', false, undefined],
    ['afterStart', 'tested', 'go', true, 'string'],
    ['beforeResume', 'tested', undefined, false, undefined],
    ['afterResume', 'tested', undefined, true, 'string'],
    ['beforeStart', 'tested', 'next', false, undefined],
    ['afterStart', 'tested', 'next', expect.any(Boolean), 'string'],
  ])
})

test('a hook refuses a turn', async () => {
  const session = createSession({
    brain: () => say('never'),
    hooks: {
      beforeStart: () => {
        throw new RequestError(402, 'no-budget', 'there is no budget left')
      },
    },
  })
  expect(await session.post('/start', { message: 'go' })).toMatchObject({
    status: 402,
    body: { error: { message: 'there is no budget left', code: 'no-budget' } },
  })
  expect((await session.get('/state')).status).toBe(404)
})

test('a hook lets a new message take the place of the run under way', async () => {
  const gate = createGate()
  const session = createSession({
    tools: [waitTool(gate)],
    brain: (messages) => {
      if (messages.length === 1) return use('wait')
      return say(messages.some(({ content }) => content === 'instead') ? 'new' : 'old')
    },
    hooks: {
      beforeStart: async ({ executionState }) => {
        if (!executionState.isExecuting) return
        const interrupted = executionState.interrupt('superseded')
        gate.open()
        await interrupted
      },
    },
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  expect((await session.post('/message', { message: 'instead' })).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  expect((await session.get('/state')).body.output).toBe('new')
})

test('a start carries the custom state', async () => {
  const session = createSession({ brain: () => say('done') })
  const started = await session.post('/start', { message: 'go', state: { topic: 'x' } })
  expect(started.status).toBe(202)
  expect(await session.ended()).toBe('completed')
})

test('a listener hears of the workspaces that are opened and let go', async () => {
  const heard: unknown[] = []
  const session = createSession({
    brain: (messages) =>
      messages.length === 1
        ? use('workspace__box__write_file', { path: 'a.txt', content: 'x' })
        : say('done'),
    lifecycle: {
      onOpen: ({ workspace, providerId }) => void heard.push(['open', workspace, providerId]),
      onClose: ({ mode, workspace }) => void heard.push([mode, workspace]),
    },
  })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const whole = [
    ['open', 'box', 'in-memory'],
    ['detach', 'box'],
  ]
  await vi.waitFor(() => expect(heard).toEqual(whole), { timeout: 60_000 })
})
