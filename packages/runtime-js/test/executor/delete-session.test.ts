// The sessions of sub-agents go with a session, and a session that others have by then stays.
import { defineAgent, StateStoreError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

test('they are listed by the beginning of their ids, and removed the deepest first', async () => {
  const { executor, store } = createHarness([say('done')])
  const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  const ids = ['s/s1-0/s1-0/s1-0', 's/s1-0', 's/s1-0/s1-0', 's/s2-0', 's/s2-0/s1-0']
  for (const [now, sessionId] of ids.entries()) {
    const parentSessionId = sessionId.slice(0, sessionId.lastIndexOf('/'))
    const child = { sessionId, parentSessionId, agentType: 'a', customState: undefined }
    await store.createSession({ ...child, now })
  }
  const removed: number[] = []
  const deleteSession = store.deleteSession.bind(store)
  store.deleteSession = (id) => (removed.push(id.split('/').length), deleteSession(id))
  const list = vi.spyOn(store, 'listSessions')
  await executor.deleteSession(plain, 's')
  expect(removed).toEqual([4, 3, 3, 2, 2, 1])
  expect(list).toHaveBeenCalledExactlyOnceWith({ idPrefix: 's/', limit: 200 })
})

test('a session that another process has by then is not removed', async () => {
  const [clock, provider] = [new ManualClock(), new InMemoryWorkspaceProvider()]
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const boxed = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces: { box } })
  const { executor, store } = createHarness([calls(['workspace__box__ls', {}]), say('done')], {
    clock,
    leaseMs: 300,
    workspaceProviders: [provider],
  })
  const start = { sessionId: 's', keepWorkspaces: true }
  await (await executor.execute(boxed, 'Go', start)).result()
  store.renewRun = () => Promise.reject(new StateStoreError('conflict', 's', 'another has it'))
  const resolve = provider.resolve.bind(provider)
  provider.resolve = async (...given) => {
    await clock.advance(300)
    return resolve(...given)
  }
  await expect(executor.deleteSession(boxed, 's')).rejects.toMatchObject({ code: 'conflict' })
  expect(await store.loadSession('s')).not.toBeNull()
})
