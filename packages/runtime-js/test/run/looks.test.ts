// What a run asks others for, and what it need not ask again.
import { getEventListeners } from 'node:events'
import { createSubAgentTool, defineAgent, defineTool, type MockStep } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say, settle } from '../harness.ts'

const plain = agentWith()
const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
const parent = agentWith(createSubAgentTool(child, z.object({})))

test('a new session and a sub-agent have no messages to look for, a later turn has', async () => {
  const store = new InMemoryStateStore()
  const look = vi.spyOn(store, 'listQueuedMessages')
  const steps = [calls(['subagent__child']), say('child'), say('one'), say('two')]
  const { executor } = createHarness(steps, { store })
  await (await executor.execute(parent, 'x', { sessionId: 's' })).result()
  expect(look).not.toHaveBeenCalled()
  await (await executor.execute(parent, 'y', { sessionId: 's' })).result()
  expect(look.mock.calls).toEqual([['s', 'steer']])
})

test('messages are looked for when there are some', async () => {
  const [store, clock] = [new InMemoryStateStore(), new ManualClock()]
  const [first, second] = [gate(), gate()]
  const steps: MockStep[] = [
    () => first.opened.then(() => say('one', false)),
    () => second.opened.then(() => say('two', false)),
    say('three'),
  ]
  const { executor } = createHarness(steps, { store, clock })
  const handle = await executor.execute(plain, 'x', { sessionId: 's' })
  const look = vi.spyOn(store, 'listQueuedMessages')
  await clock.advance(500)
  first.open()
  await settle()
  expect(look).not.toHaveBeenCalled()
  // As another process sends it.
  const message = { role: 'user', content: 'psst' } as const
  const queued = { messageId: 'm', sessionId: 's', delivery: 'steer', message } as const
  await store.queueMessage({ ...queued, createdAt: clock.now() })
  await clock.advance(500)
  second.open()
  await handle.result()
  expect(look).toHaveBeenCalledTimes(1)
  expect((await store.loadMessages('s')).messages.map(({ content }) => content)).toEqual([
    'x',
    'one',
    'two',
    'psst',
    'three',
  ])
})

test('what was sent as a run ended goes on, whatever its kinds', async () => {
  const store = new InMemoryStateStore()
  const send = (messageId: string, delivery: 'steer' | 'followUp') =>
    store.queueMessage({
      messageId,
      sessionId: 's',
      delivery,
      message: { role: 'user', content: messageId },
      createdAt: Date.now(),
    })
  const endRun = store.endRun.bind(store)
  store.endRun = async (end) => {
    store.endRun = endRun
    const session = await endRun(end)
    await send('one', 'steer')
    await send('two', 'followUp')
    return session
  }
  const { executor } = createHarness([say('done'), say('more')], { store })
  await (await executor.execute(plain, 'x', { sessionId: 's' })).result()
  await settle()
  const contents = (await store.loadMessages('s')).messages.map(({ content }) => content)
  expect(contents).toEqual(['x', 'done', 'one', 'two', 'more'])
})

test('a call that nobody must be asked about is parsed once', async () => {
  let parsed = 0
  const inputSchema = z.object({}).refine(() => (parsed += 1) > 0)
  const free = defineTool({ name: 'free', description: '', inputSchema, execute: () => 'x' })
  const { executor } = createHarness([calls(['free']), say('done')])
  await (await executor.execute(agentWith(free), 'x')).result()
  expect(parsed).toBe(1)
})

test('the tools of an agent are made once for an executor, of an heir once for its parent', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const notes = provider.toolNotes
  let made = 0
  Object.defineProperty(provider, 'toolNotes', { get: () => ((made += 1), notes) })
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const heir = defineAgent({ name: 'child', llmConfig: { model: {} }, workspaces: { own: box } })
  const lone = defineAgent({ name: 'lone', llmConfig: { model: {} }, workspaces: { own: box } })
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [
      createSubAgentTool(heir, z.object({}), { inheritWorkspaces: true }),
      createSubAgentTool(lone, z.object({})),
    ],
    workspaces: { box },
  })
  const turn = [
    calls(['subagent__child'], ['subagent__lone']),
    say('child'),
    say('lone'),
    say('done'),
  ]
  const { executor } = createHarness([...turn, ...turn], { workspaceProviders: [provider] })
  await (await executor.execute(agent, 'x')).result()
  const first = made
  expect(first).toBeGreaterThan(0)
  await (await executor.execute(agent, 'x')).result()
  expect(made).toBe(first)
})

test('a sub-agent that no provider can serve is refused before its parent starts', async () => {
  const box = { provider: { kind: 'nowhere' }, capabilities: { fs: true } } as const
  const lost = defineAgent({ name: 'lost', llmConfig: { model: {} }, workspaces: { box } })
  const { executor, store } = createHarness([say('x')])
  const agent = agentWith(createSubAgentTool(lost, z.object({})))
  await expect(executor.execute(agent, 'x', { sessionId: 's' })).rejects.toMatchObject({
    code: 'config-invalid',
  })
  expect(await store.loadSession('s')).toBeNull()
})

test('a message that cannot be stored keeps a session from going on', async () => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([say('one', false), () => Promise.reject(new Error('no'))], {
    store,
  })
  await (await executor.execute(plain, 'x', { sessionId: 's' })).result()
  vi.spyOn(store, 'appendMessages').mockRejectedValueOnce(new Error('the disk is full'))
  const resuming = executor.resume(plain, 's', { message: 'y' })
  await expect(resuming).rejects.toThrow('the disk is full')
  expect((await store.loadSession('s'))?.leaseUntil).toBeUndefined()
})

test('neither a call with a time of its own nor a run leaves a listener behind', async () => {
  const signals: AbortSignal[] = []
  const tool = (name: string, timeoutMs?: number) =>
    defineTool({
      name,
      description: '',
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) => void signals.push(abortSignal),
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
  const agent = agentWith(tool('free'), tool('timed', 1000))
  const listeners: number[] = []
  const count: MockStep = () => {
    listeners.push(getEventListeners(signals[0]!, 'abort').length)
    return calls(['timed'], ['free'])
  }
  const own = new AbortController()
  const clock = new ManualClock()
  const steps: MockStep[] = [calls(['free']), count, count, say('done')]
  const { executor } = createHarness(steps, { clock })
  await (await executor.execute(agent, 'x', { signal: own.signal })).result()
  expect(listeners[1]).toBe(listeners[0])
  expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
  expect(getEventListeners(own.signal, 'abort')).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})

test('a call with a time of its own is stopped with its run', async () => {
  const reached = gate()
  const timed = defineTool({
    name: 'timed',
    description: '',
    inputSchema: z.object({}),
    timeoutMs: 1_000_000,
    execute: (_, { abortSignal }) => {
      reached.open()
      return new Promise((_resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error))
      })
    },
  })
  const { executor } = createHarness([calls(['timed'])], { clock: new ManualClock() })
  const handle = await executor.execute(agentWith(timed), 'x')
  await reached.opened
  await handle.abort()
  expect((await handle.result()).status).toBe('aborted')
})

test('a start that fails leaves no listener on the signal of its caller', async () => {
  const own = new AbortController()
  const streams = new InMemoryStreamManager()
  vi.spyOn(streams, 'startRun').mockRejectedValue(new Error('no'))
  const { executor } = createHarness([], { streams })
  await expect(executor.execute(plain, 'x', { signal: own.signal })).rejects.toThrow('no')
  expect(getEventListeners(own.signal, 'abort')).toEqual([])
})
