// What an import leaves that makes no session, and who frees it.
import { defineAgent } from '@helix-agents/core'
import { takeSnapshot } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem, InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { createHarness } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})

async function filesFrom() {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'text')
  const store = new InMemorySnapshotStore()
  const session = { sessionId: 'away', agentType: 'a' }
  const identity = { session, workspace: 'box', workspaceId: 'box', providerId: 'x' }
  const { manifest } = await takeSnapshot(fs, store, { ...identity, scope: 's' })
  return { manifest, store, scope: 's' }
}

const seed = { agentType: 'a', messages: [], customState: undefined }

async function prepared() {
  const provider = new InMemoryWorkspaceProvider()
  const clock = new ManualClock(Date.now())
  const { executor, store } = createHarness([], { workspaceProviders: [provider], clock })
  const given = { sessionId: 's', seed, files: { box: await filesFrom() } }
  const ids = async (): Promise<readonly string[]> =>
    (await store.listSessions()).items.map(({ sessionId }) => sessionId)
  const held = async () => (await provider.history.list('s')).workspaces
  return { provider, clock, executor, store, given, ids, held }
}

test('one that fails and was freed leaves nothing', async () => {
  const { executor, store, given, ids, held } = await prepared()
  const create = store.createSession.bind(store)
  vi.spyOn(store, 'createSession').mockImplementation(async (session) => {
    if (session.sessionId === 's') throw new Error('the end')
    return create(session)
  })
  await expect(executor.importSession(agent, given)).rejects.toThrow('the end')
  expect([await ids(), await held()]).toEqual([[], []])
})

test('what could not be freed is recorded, until a collection has freed it', async () => {
  const { provider, clock, executor, given, ids, held } = await prepared()
  const files = vi.spyOn(provider, 'resolve').mockRejectedValue(new Error('no'))
  const release = vi.spyOn(provider, 'release').mockRejectedValue(new Error('busy'))
  await expect(executor.importSession(agent, given)).rejects.toThrow('no')
  files.mockRestore()
  release.mockRestore()
  expect(await held()).toHaveLength(1)
  const [record = ''] = await ids()
  // Its import may still be under way.
  await executor.releaseWorkspaces(agent, record)
  expect([await ids(), (await held()).length]).toEqual([['s/import'], 1])
  await clock.advance(700_000)
  await executor.releaseWorkspaces(agent, record)
  expect([await ids(), await held()]).toEqual([[], []])
})

test('a session of another kind is no record', async () => {
  const { executor, store, given, ids, held } = await prepared()
  await store.createSession({ ...seed, sessionId: 's/import', now: 1 })
  const importing = executor.importSession(agent, given)
  await expect(importing).rejects.toMatchObject({ code: 'conflict' })
  await executor.releaseWorkspaces(agent, 's/import', { graceMs: 0 })
  expect([await ids(), await held()]).toEqual([['s/import'], []])
})

test('the record of an import that has just begun stays', async () => {
  const { clock, executor, store, ids } = await prepared()
  const record = { sessionId: 's/import', parentSessionId: 's', now: clock.now() }
  await store.createSession({ ...seed, ...record })
  await executor.releaseWorkspaces(agent, 's/import')
  expect(await ids()).toEqual(['s/import'])
  await clock.advance(600_000)
  await executor.releaseWorkspaces(agent, 's/import')
  expect(await ids()).toEqual([])
})
