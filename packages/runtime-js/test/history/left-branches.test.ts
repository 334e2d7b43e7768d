// What a process leaves that died while it made a branch: the source of the branch knows of it.
import { defineAgent } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})
const graceMs = 0

/** A session with one step, and a process that dies before the session of its branch is stored. */
async function left(provider: InMemoryWorkspaceProvider) {
  const store = new InMemoryStateStore()
  const write = calls(['workspace__box__write_file', { path: '/a', content: '1' }])
  const clock = new ManualClock(Date.now())
  const options = { workspaceProviders: [provider], store, clock }
  const harness = createHarness([write, say('end')], options)
  const { executor } = harness
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const created = vi.spyOn(store, 'createSession').mockRejectedValue(new Error('the end'))
  const from = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
  await expect(executor.branch(agent, from)).rejects.toThrow('the end')
  created.mockRestore()
  return { executor, store, clock }
}

const nameOf = ({ ref }: WorkspaceRef): string => JSON.stringify(ref)

/** It cannot list what sessions have; it says what it is about to make. */
function unlisting(): { provider: InMemoryWorkspaceProvider; made: Set<string> } {
  const provider = new InMemoryWorkspaceProvider()
  const made = new Set<string>()
  const restore = provider.history.restore.bind(provider.history)
  vi.spyOn(provider.history, 'list').mockResolvedValue({ snapshots: [], workspaces: [] })
  vi.spyOn(provider.history, 'restore').mockImplementation(async (snapshot, options) => {
    const ref = await restore(snapshot, options)
    await options.onMaking?.(ref)
    made.add(nameOf(ref))
    return ref
  })
  const release = provider.release.bind(provider)
  provider.release = async (ref) => {
    made.delete(nameOf(ref))
    await release(ref)
  }
  return { provider, made }
}

test('a backend that its provider cannot list is freed by a collection of the source', async () => {
  const { provider, made } = unlisting()
  const { executor, store } = await left(provider)
  expect(made.size).toBe(1)
  // The branch may still be under way.
  await executor.releaseWorkspaces(agent, 's')
  expect(made.size).toBe(1)
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(made.size).toBe(0)
  expect((await store.loadHistory('s')).released).toEqual([])
})

test('the end of the source frees it too', async () => {
  const { provider, made } = unlisting()
  const { executor } = await left(provider)
  await executor.deleteSession(agent, 's')
  expect(made.size).toBe(0)
})

test('a branch that came to be keeps its backend', async () => {
  const { provider, made } = unlisting()
  const { executor, store } = await left(provider)
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  vi.spyOn(store, 'forgetReleased').mockRejectedValueOnce(new Error('the end'))
  const from = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
  await expect(executor.branch(agent, from)).rejects.toThrow('the end')
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(made.size).toBe(1)
  expect((await store.loadHistory('s')).released).toEqual([])
})

test('a second attempt that came to be keeps its backend, and that of the first one is freed', async () => {
  const { provider, made } = unlisting()
  const { executor, store } = await left(provider)
  const from = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
  await executor.branch(agent, from)
  expect(made.size).toBe(2)
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  const { workspaceRefs } = (await store.loadSession('b'))!
  expect([...made]).toEqual(Object.values(workspaceRefs).map(nameOf))
  expect((await store.loadHistory('s')).released).toEqual([])
})

test('a second attempt under way keeps what it makes, although the first one is long over', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const { executor, store, clock } = await left(provider)
  await clock.advance(700_000)
  const create = store.createSession.bind(store)
  vi.spyOn(store, 'createSession').mockImplementation(async (session) => {
    await executor.releaseWorkspaces(agent, 's')
    return create(session)
  })
  const from = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
  await executor.branch(agent, from)
  const { workspaceRefs } = (await store.loadSession('b'))!
  const { workspaces } = await provider.history.list('b')
  expect(workspaces.map(nameOf)).toContain(Object.values(workspaceRefs).map(nameOf)[0])
})

test('what a provider cannot say now is asked again, also before the source ends', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const { executor, store } = await left(provider)
  const list = vi.spyOn(provider.history, 'list').mockRejectedValue(new Error('busy'))
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect((await store.loadHistory('s')).released).toHaveLength(1)
  await expect(executor.deleteSession(agent, 's')).rejects.toMatchObject({ code: 'not-removed' })
  list.mockRestore()
  expect((await provider.history.list('b')).workspaces).toHaveLength(1)
  await executor.deleteSession(agent, 's')
  expect((await provider.history.list('b')).workspaces).toEqual([])
  expect(await store.loadSession('s')).toBeNull()
})

test.each([{ files: 'checkpoint' }, { seedWorkspaces: 'snapshot' }] as const)(
  'what is made for a branch, %j, is recorded before, and no more once the branch has it',
  async (how) => {
    const { provider } = unlisting()
    const store = new InMemoryStateStore()
    const write = calls(['workspace__box__write_file', { path: '/a', content: '1' }])
    const options = { workspaceProviders: [provider], store }
    const { executor } = createHarness([write, say('end')], options)
    const taking = defineAgent({
      name: 'a',
      llmConfig: { model: {} },
      workspaces: {
        box: {
          provider: { kind: 'in-memory' },
          capabilities: { fs: true, snapshot: true },
          history: 'step',
        },
      },
    })
    const start = { sessionId: 's', keepWorkspaces: true }
    await (await executor.execute(taking, 'x', start)).result()
    const recorded = vi.spyOn(store, 'recordReleased')
    await executor.branch(taking, { fromSessionId: 's', sessionId: 'b', ...how })
    const made = { workspace: 'box', ref: expect.anything() }
    expect(recorded.mock.calls.map(([id, what]) => [id, what])).toEqual([
      ['s', { branchId: 'b' }],
      ['s', { branchId: 'b', made }],
    ])
    expect((await store.loadHistory('s')).released).toEqual([])
  },
)
