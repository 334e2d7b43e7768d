// What a run does before it begins: how often it tries, what it loads and stores, and what a failure leaves.
import { createSubAgentTool, defineAgent, StateStoreError } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, say, settle } from '../harness.ts'

const plain = agentWith()
const usage = { inputTokens: 1, outputTokens: 2 }
const gone = new Error('the disk is gone')

test.each([
  [4, 'started'],
  [5, 'conflict'],
])('a session that others change %d times meanwhile is %s', async (times, expected) => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([say('done')], { store })
  const begin = vi.spyOn(store, 'beginRun')
  const changed = new StateStoreError('conflict', 's', 'it has changed')
  for (let time = 0; time < times; time++) begin.mockRejectedValueOnce(changed)
  const load = vi.spyOn(store, 'createSession')
  const starting = executor.execute(plain, 'Go', { sessionId: 's' })
  const outcome = await starting.then(
    () => 'started',
    (error: unknown) => (error as StateStoreError).code,
  )
  expect([outcome, begin.mock.calls.length, load.mock.calls.length]).toEqual([expected, 5, 1])
})

test('another failure of the store is not tried again', async () => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([say('done')], { store })
  const begin = vi.spyOn(store, 'beginRun').mockRejectedValueOnce(gone)
  await expect(executor.execute(plain, 'Go', { sessionId: 's' })).rejects.toBe(gone)
  expect(begin).toHaveBeenCalledTimes(1)
  expect((await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()).output).toBe(
    'done',
  )
})

test('a new session has no conversation to load', async () => {
  const store = new InMemoryStateStore()
  const load = vi.spyOn(store, 'loadMessages')
  const { executor } = createHarness([say('one'), say('two')], { store })
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  expect(load).not.toHaveBeenCalled()
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  expect(load).toHaveBeenCalledTimes(1)
})

test('what a turn has used stands from its message on; a resumed one counts on', async () => {
  const store = new InMemoryStateStore()
  const append = vi.spyOn(store, 'appendMessages')
  const failing = { type: 'error', error: 'no', shouldStop: true, usage } as const
  const steps = [{ ...say('one'), usage }, { ...say('two', false), usage }, failing, say('end')]
  const { executor } = createHarness(steps, { store })
  const stored = () => append.mock.calls.map(([given]) => given.usage?.totalTokens)
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  expect(stored()).toEqual([undefined])
  const second = await executor.execute(plain, 'Go', { sessionId: 's' })
  expect((await second.result()).usage.totalTokens).toBe(6)
  // With its message, that nothing is used yet; and what the last call has used.
  expect(stored()).toEqual([undefined, 0, 6])
  const resumed = await executor.resume(plain, 's', { message: 'And?' })
  expect(stored()).toEqual([undefined, 0, 6, undefined])
  expect((await resumed.result()).usage.totalTokens).toBe(6)
})

test('what a sub-agent had used before is counted by its parent when it is resumed', async () => {
  const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
  const parent = agentWith(createSubAgentTool(child, z.object({})))
  const live: { interrupt?: () => Promise<void> } = {}
  const half = async () => {
    await settle()
    await live.interrupt?.()
    return { ...say('half', false), usage }
  }
  const { executor } = createHarness([calls(['subagent__child']), half, say('c'), say('p')])
  const handle = await executor.execute(parent, 'Go', { sessionId: 's' })
  live.interrupt = () => handle.interrupt()
  expect((await handle.result()).status).toBe('interrupted')
  const result = await (await handle.resume()).result()
  expect(result).toMatchObject({ output: 'p', usage: { totalTokens: 3, modelCalls: 1 } })
})

const stuck = () => new Promise<never>(() => {})

function withoutStreams(): InMemoryStreamManager {
  const streams = new InMemoryStreamManager()
  streams.startRun = () => Promise.reject(gone)
  return streams
}

describe('a start that fails', () => {
  test('leaves its session to the next one, and logs when it cannot', async () => {
    const harness = createHarness([], { streams: withoutStreams() })
    const { executor, store, logger } = harness
    const err = new Error('away')
    store.endRun = () => Promise.reject(err)
    await expect(executor.execute(plain, 'Go', { sessionId: 's' })).rejects.toBe(gone)
    const { runId } = (await store.loadSession('s'))!
    expect(logger.lines).toEqual([
      { level: 'warn', message: 'lease release failed', fields: { err, sessionId: 's', runId } },
    ])
  })

  test('says nothing when another run has it by then', async () => {
    const { executor, store, logger } = createHarness([], { streams: withoutStreams() })
    store.endRun = () => Promise.reject(new StateStoreError('conflict', 's', 'taken'))
    await expect(executor.execute(plain, 'Go', { sessionId: 's' })).rejects.toBe(gone)
    expect(logger.lines).toEqual([])
  })

  test('lets go of the workspaces that it has opened, and then of the session', async () => {
    const provider = new InMemoryWorkspaceProvider()
    const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
    const agent = defineAgent({
      name: 'a',
      llmConfig: { model: {} },
      workspaces: { box: { ...box, history: 'step' } },
    })
    const clock = new ManualClock(0)
    const write = calls(['workspace__box__write_file', { path: '/a', content: '1' }])
    const read = calls(['workspace__box__read_file', { path: '/a' }])
    const store = new InMemoryStateStore()
    const options = { workspaceProviders: [provider], clock, store, leaseMs: 1000 }
    const first = createHarness([write, read], options)
    const commit = store.commitStep.bind(store)
    let commits = 0
    // The process dies in its second step.
    store.commitStep = (step) => (commits++ > 0 ? stuck() : commit(step))
    await first.executor.execute(agent, 'Go', { sessionId: 's' })
    await expect.poll(async () => (await clock.advance(0), commits), { interval: 1 }).toBe(2)
    store.commitStep = () => Promise.reject(gone)
    const events: string[] = []
    const resolve = provider.resolve.bind(provider)
    provider.resolve = async (...given) => {
      events.push('opened')
      const opened = await resolve(...given)
      const detach = opened.ws.detach?.bind(opened.ws)
      opened.ws.detach = async () => {
        await detach?.()
        await settle()
        events.push('let go')
      }
      return opened
    }
    const endRun = store.endRun.bind(store)
    store.endRun = (end) => (events.push('released'), endRun(end))
    const later = first.next([], { clock: new ManualClock(3_600_000) })
    await expect(later.executor.execute(agent, 'And?', { sessionId: 's' })).rejects.toBe(gone)
    expect(events).toEqual(['opened', 'let go', 'released'])
  })
})

test('what earlier runs have left and cannot be freed now is logged, and the run starts', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const store = new InMemoryStateStore()
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: { box: { ...box, history: 'step' } },
  })
  const write = calls(['workspace__box__write_file', { path: '/a', content: '1' }])
  const steps = [write, say('one'), say('two'), say('three')]
  const harness = createHarness(steps, { workspaceProviders: [provider], store })
  const { executor, logger } = harness
  const turn = async () => (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  await turn()
  await store.recordReleased('s', { branchId: 'b' }, 0)
  const forget = vi.spyOn(store, 'forgetReleased').mockRejectedValueOnce(gone)
  expect((await turn()).output).toBe('two')
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: logMessages.historyNotCollected,
      fields: { err: gone, sessionId: 's' },
    },
  ])
  expect((await store.loadHistory('s')).released).toHaveLength(1)
  expect((await turn()).output).toBe('three')
  expect((await store.loadHistory('s')).released).toEqual([])
  expect(forget).toHaveBeenCalledTimes(2)
})
