// The last moments: an end that the store does not take, a shutdown, an abort, and what was left before.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  StateStoreError,
  type ToolContext,
} from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { StateTracker } from '../../src/run/state-tracker.ts'
import { agentWith, calls, createHarness, gate, say, settle } from '../harness.ts'

const plain = agentWith()
const away = () => new StateStoreError('unavailable', 's', 'try later')

test('an end that the store does not take is tried again after 100, 400 and 1500 ms', async () => {
  const clock = new ManualClock(0)
  const harness = createHarness([say('done')], { clock, leaseMs: 60_000 })
  const times: number[] = []
  harness.store.endRun = async () => {
    times.push(clock.now())
    throw away()
  }
  const handle = await harness.executor.execute(plain, 'x', { sessionId: 's' })
  await settle()
  for (let step = 0; step < 250; step += 1) await clock.advance(10)
  expect((await handle.result()).status).toBe('failed')
  expect(times).toEqual([0, 100, 500, 2000])
  const line = { level: 'warn', message: 'end of run not stored yet' }
  const fields = { err: away(), sessionId: 's', runId: handle.runId }
  expect(harness.logger.with(line.message)).toEqual([1, 2, 3].map(() => ({ ...line, fields })))
})

test('a first end that finds its session taken is not asked about', async () => {
  const { executor, store } = createHarness([say('done')])
  store.endRun = () => Promise.reject(new StateStoreError('conflict', 's', 'it is taken'))
  const handle = await executor.execute(plain, 'x', { sessionId: 's' })
  const load = vi.spyOn(store, 'loadSession')
  expect((await handle.result()).status).toBe('failed')
  expect(load).not.toHaveBeenCalled()
})

test('a shutdown that is over leaves no timer', async () => {
  const clock = new ManualClock()
  const timers: unknown[] = []
  const setTimer = clock.setTimer.bind(clock)
  clock.setTimer = (...given: Parameters<typeof setTimer>) => {
    timers.push([given[0], (given as unknown[])[2]])
    return setTimer(...given)
  }
  const { executor } = createHarness([], { clock })
  await executor.shutdown()
  expect(clock.pendingTimers).toBe(0)
  const keeps = { keepsProcessAlive: true }
  expect(timers).toEqual([
    [6000, keeps],
    [9000, keeps],
  ])
})

const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
const parent = agentWith(createSubAgentTool(child, z.object({})))

test('a sub-agent session that was there before its call is ended and removed first', async () => {
  const store = new InMemoryStateStore()
  const start = { sessionId: 's/s1-0', runId: 'old', now: 0 }
  await store.createSession({
    sessionId: start.sessionId,
    agentType: 'child',
    parentSessionId: 's',
    customState: undefined,
    now: 0,
  })
  await store.beginRun({ ...start, leaseMs: 1 })
  await store.appendMessages({ ...start, messages: [{ role: 'user', content: 'old' }] })
  await store.endRun({ ...start, status: 'interrupted' })
  const events: string[] = []
  const watch = (
    name: 'endRun' | 'deleteSession' | 'createSession',
    idOf: (given: never) => string,
  ) => {
    const method = (store[name] as (...given: unknown[]) => Promise<unknown>).bind(store)
    Reflect.set(store, name, async (...given: unknown[]) => {
      await settle()
      const result = await method(...given)
      if (idOf(given[0] as never) === start.sessionId) events.push(name)
      return result
    })
  }
  watch('endRun', ({ sessionId }) => sessionId)
  watch('createSession', ({ sessionId }) => sessionId)
  watch('deleteSession', (sessionId) => sessionId)
  const { executor } = createHarness([calls(['subagent__child']), say('new'), say('done')], {
    store,
  })
  const handle = await executor.execute(parent, 'x', { sessionId: 's' })
  expect((await handle.result()).status).toBe('completed')
  expect(events.slice(0, 3)).toEqual(['endRun', 'deleteSession', 'createSession'])
  const own = (await store.loadMessages(start.sessionId)).messages
  expect(own.map(({ content }) => content)).toEqual(['{}', 'new'])
})

test('a sub-agent that cannot be ended is logged, and its parent is', async () => {
  const store = new InMemoryStateStore()
  const err = new Error('no')
  const live: { interrupt?: () => Promise<void> } = {}
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: async () => {
      await settle()
      await live.interrupt?.()
    },
  })
  const below = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [wait] })
  const above = agentWith(createSubAgentTool(below, z.object({})))
  const { executor, logger } = createHarness([calls(['subagent__child']), calls(['wait'])], {
    store,
  })
  const handle = await executor.execute(above, 'x', { sessionId: 's' })
  live.interrupt = () => handle.interrupt()
  expect((await handle.result()).status).toBe('interrupted')
  const beginRun = store.beginRun.bind(store)
  store.beginRun = (start) => (start.sessionId === 's/s1-0' ? Promise.reject(err) : beginRun(start))
  await handle.abort()
  expect((await store.loadSession('s'))?.status).toBe('aborted')
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'sub-agent was not ended',
      fields: { err, sessionId: 's/s1-0' },
    },
  ])
})

test('an abort whose stream cannot be ended has aborted, and is logged', async () => {
  const err = new Error('no')
  const harness = createHarness([say('one', false), () => Promise.reject(new Error('x'))])
  const { executor, store, streams, logger } = harness
  const handle = await executor.execute(plain, 'x', { sessionId: 's' })
  await handle.result()
  logger.lines.length = 0
  streams.endRun = () => Promise.reject(err)
  await handle.abort()
  expect(await store.loadSession('s')).toMatchObject({ status: 'aborted' })
  expect((await store.loadSession('s'))?.output).toBeUndefined()
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'end of stream not written', fields: { err, sessionId: 's' } },
  ])
})

test('a second run in a session waits for the end of the first, which is told by its result', async () => {
  const hold = gate()
  const harness = createHarness([say('one'), say('two')])
  const { executor, store } = harness
  const endRun = store.endRun.bind(store)
  store.endRun = async (end) => {
    store.endRun = endRun
    const session = await endRun(end)
    await hold.opened
    return session
  }
  const first = await executor.execute(plain, 'x', { sessionId: 's' })
  await settle()
  hold.open()
  expect((await first.result()).output).toBe('one')
  const second = await executor.execute(plain, 'y', { sessionId: 's' })
  expect((await second.result()).output).toBe('two')
})

const quiet = () => {}

const { maxCharacters } = contentLimits
const grow = (length: number) => {
  const state = new StateTracker({}, quiet, false)
  state.update<{ text?: string }>({}, (draft) => void (draft.text = 'x'.repeat(length)))
  return state
}

test('the custom state has all its characters, and no more', () => {
  // A state that fits is not measured as a whole before it may be too large.
  const longest = maxCharacters - 100
  expect(grow(longest).read<{ text: string }>().text).toHaveLength(longest)
  expect(() => grow(maxCharacters + 1)).toThrow('the custom state is larger than')
  const twice = grow(maxCharacters / 2)
  const more = (length: number) => () =>
    twice.update<{ more?: string }>({}, (draft) => void (draft.more = 'y'.repeat(length)))
  more(maxCharacters / 2 - 1000)()
  expect(more(maxCharacters / 2 + 1000)).toThrow('the custom state is larger than')
  expect(twice.read<{ more: string }>().more).toHaveLength(maxCharacters / 2 - 1000)
  more(10)()
  more(maxCharacters / 2 - 1000)()
})

test('a tool reads an empty state before there is one', async () => {
  const seen: unknown[] = []
  const read = defineTool({
    name: 'read',
    description: '',
    inputSchema: z.object({}),
    execute: (_, context: ToolContext) => void seen.push(context.getState()),
  })
  const { executor } = createHarness([calls(['read']), say('done')])
  await (await executor.execute(agentWith(read), 'x')).result()
  expect(seen).toEqual([{}])
})

test('a workspace that a registry opens counts for the metrics and the tracer of its executor', async () => {
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces: { box } })
  const names: string[] = []
  const span = {
    setAttribute() {},
    setAttributes() {},
    setStatus() {},
    recordException() {},
    end() {},
  }
  const tracer = {
    startActiveSpan: <T>(name: string, _: object, work: (one: typeof span) => T): T => {
      names.push(name)
      return work(span)
    },
  }
  const { executor } = createHarness([calls(['workspace__box__ls', {}]), say('done')], {
    tracer,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  await (await executor.execute(agent, 'x')).result()
  expect(names.some((name) => name.startsWith('helix.workspace'))).toBe(true)
})
