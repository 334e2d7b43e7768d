// The end of a session that does not run: what it was, what it owns, who is told.
import { defineAgent } from '@helix-agents/core'
import type { StoredOutcome } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
/** Without workspaces. */
const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })
const look = calls(['workspace__box__ls', {}])
const dead = { sessionId: 's', runId: 'dead', now: 0 }

/** A session whose process died once its run was decided. */
async function decided(outcome?: StoredOutcome) {
  const harness = createHarness([], { clock: new ManualClock(1000) })
  const { store } = harness
  await store.createSession({ ...dead, agentType: 'a', customState: undefined })
  await store.beginRun({ ...dead, leaseMs: 1 })
  await store.commitStep({
    ...dead,
    messages: [{ role: 'assistant', content: 'x' }],
    checkpointId: 'c',
    ...(outcome !== undefined && { outcome }),
  })
  return harness
}

test('what was decided before its process died is not what an aborted session has', async () => {
  const { executor, store } = await decided({ status: 'completed', output: 'decided' })
  const endRun = vi.spyOn(store, 'endRun')
  await (await executor.getHandle(plain, 's'))?.abort()
  const session = await store.loadSession('s')
  expect(session).toMatchObject({ status: 'aborted' })
  expect(session?.output).toBeUndefined()
  expect(Object.keys(endRun.mock.calls[0]![0]).toSorted()).toEqual([
    'now',
    'runId',
    'sessionId',
    'status',
  ])
})

test('one that is over and owns nothing, or never ran, is left as it is', async () => {
  const { executor, store } = createHarness([say('done')])
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  await executor.branch(plain, { fromSessionId: 's', sessionId: 'new' })
  const begin = vi.spyOn(store, 'beginRun')
  for (const id of ['s', 'new']) await (await executor.getHandle(plain, id))?.abort()
  expect(begin).not.toHaveBeenCalled()
  expect((await store.loadSession('s'))?.status).toBe('completed')
  expect((await store.loadSession('new'))?.status).toBe('idle')
})

test('one that is over keeps its output while its workspaces end', async () => {
  const store = new InMemoryStateStore()
  const { executor, streams } = createHarness([look, say('done')], {
    store,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  await (await executor.execute(agent, 'Go', { sessionId: 's', keepWorkspaces: true })).result()
  expect(Object.keys((await store.loadSession('s'))!.workspaceRefs)).toEqual(['box'])
  const ended = vi.spyOn(streams, 'endRun')
  const messages = vi.spyOn(store, 'loadMessages')
  await (await executor.getHandle(agent, 's'))?.abort()
  expect(await store.loadSession('s')).toMatchObject({
    status: 'completed',
    output: 'done',
    workspaceRefs: {},
  })
  // It has no calls that wait.
  expect(messages).not.toHaveBeenCalled()
  expect(ended.mock.calls[0]?.[2]).toMatchObject({ type: 'output', output: 'done' })
})

const failing = () => Promise.reject(new Error('no'))

test('a workspace that cannot be ended is owed, and ended by the next abort', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const open = provider.open.bind(provider)
  let isBusy = true
  const closing = async (opened: Awaited<ReturnType<typeof open>>) => {
    const close = opened.ws.close.bind(opened.ws)
    opened.ws.close = () => (isBusy ? Promise.reject(new Error('busy')) : close())
    return opened
  }
  provider.open = async (...given) => closing(await open(...given))
  const resolve = provider.resolve.bind(provider)
  provider.resolve = async (...given) => closing(await resolve(...given))
  const { executor, store } = createHarness([look, failing], { workspaceProviders: [provider] })
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  await (await executor.getHandle(agent, 's'))?.abort()
  expect(await store.loadSession('s')).toMatchObject({ status: 'aborted', owed: ['box'] })
  isBusy = false
  await (await executor.getHandle(agent, 's'))?.abort()
  const session = await store.loadSession('s')
  expect(session).toMatchObject({ status: 'aborted', workspaceRefs: {} })
  expect(session?.owed ?? []).toEqual([])
})

test('the lease is asked for again when ending the sub-agents has outlasted it', async () => {
  const clock = new ManualClock(1000)
  const { store } = await decided()
  const { executor } = createHarness([], { store, clock, leaseMs: 300 })
  const load = store.loadMessages.bind(store)
  store.loadMessages = async (...given) => {
    await clock.advance(300)
    return load(...given)
  }
  store.renewRun = () => Promise.reject(new Error('away'))
  const handle = await executor.getHandle(plain, 's')
  await expect(handle!.abort()).rejects.toThrow('away')
})
