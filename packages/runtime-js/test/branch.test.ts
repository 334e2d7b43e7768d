import { defineAgent, defineTool, WorkspaceFailedError } from '@helix-agents/core'
import type { FileSystem, WorkspaceProvider, WorkspaceRef } from '@helix-agents/core/provider'
import type { OwedDestroy } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say } from './harness.ts'

const count = defineTool({
  name: 'count',
  description: '',
  inputSchema: z.object({}),
  execute: (_, context) => context.updateState<{ n: number }>((draft) => void (draft.n += 1)),
})
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [count],
  stateSchema: z.object({ n: z.number().default(0) }),
  workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const workspaceProviders = new Map([['in-memory', new InMemoryWorkspaceProvider()]])

async function played() {
  const harness = createHarness(
    [calls(['count']), calls(['count']), say('two'), (input) => say(`${input.messages.length}`)],
    { workspaceProviders, workspaceOpenStrategy: 'eager' },
  )
  const options = { sessionId: 'source', keepWorkspaces: true, userId: 'u' }
  await (await harness.executor.execute(agent, 'x', options)).result()
  return harness
}

test('a branch has the messages and the state of its source, and fresh workspaces', async () => {
  const { executor, store } = await played()
  expect(Object.keys((await store.loadSession('source'))!.workspaceRefs)).toEqual(['notes'])
  const branch = await executor.branch(agent, { fromSessionId: 'source' })
  expect(await store.loadSession(branch.sessionId)).toMatchObject({
    status: 'idle',
    customState: { n: 2 },
    messageCount: 6,
    workspaceRefs: {},
    userId: 'u',
  })
  await expect(branch.result()).rejects.toMatchObject({ code: 'not-resumable' })
  const run = await executor.execute(agent, 'y', { sessionId: branch.sessionId })
  expect((await run.result()).output).toBe('7')
  expect((await store.loadSession('source'))!.messageCount).toBe(6)
})

test('a branch may start at a checkpoint', async () => {
  const { executor, store } = await played()
  const { items } = await store.listCheckpoints('source')
  expect(items.map(({ id }) => id.replace(/t\d+-[0-9a-f]{6}$/, ''))).toEqual([
    'cpv1-source-s3-',
    'cpv1-source-s2-',
    'cpv1-source-s1-',
  ])
  const first = items.at(-1)!
  const options = { fromSessionId: 'source', checkpointId: first.id, sessionId: 'b' }
  const branch = await executor.branch(agent, options)
  expect(branch.sessionId).toBe('b')
  expect(await store.loadSession('b')).toMatchObject({ messageCount: 3, customState: { n: 1 } })
  await expect(executor.branch(agent, options)).rejects.toMatchObject({ code: 'conflict' })
  const unknown = { fromSessionId: 'source', checkpointId: 'no' }
  await expect(executor.branch(agent, unknown)).rejects.toMatchObject({ code: 'not-resumable' })
})

/** Workspaces that do nothing but fork; each is known by its ref. */
function forkingProvider() {
  const forks: string[] = []
  const closed: string[] = []
  const failing = new Set<string>()
  const capabilities = { fs: true, snapshot: true }
  const refOf = (id: string): WorkspaceRef => ({
    providerId: 'forking',
    schemaVersion: 1,
    capabilities,
    ref: { id },
  })
  const open = async (ref: WorkspaceRef, outcome: 'created' | 'reattached') => {
    const { id } = ref.ref as { id: string }
    const restore = async (): Promise<WorkspaceRef> => {
      if (failing.has(id)) throw new WorkspaceFailedError('provider-failed', 'no room for a copy')
      forks.push(id)
      return refOf(`${id}-fork`)
    }
    const snapshot = { snapshot: async () => ({ providerId: 'forking', ref: id }), restore }
    const ws = {
      id,
      isolation: 'none',
      fs: {} as FileSystem,
      snapshot,
      close: async () => {
        if (failing.has(`close ${id}`)) throw new Error('cannot close')
        closed.push(id)
      },
    } as const
    return { ws, ref, receipt: { outcome } }
  }
  const provider: WorkspaceProvider = {
    providerId: 'forking',
    capabilities,
    refSchemaVersion: 1,
    open: ({ name }: { kind: string; name?: string }, { sessionId }) =>
      open(refOf(name ?? sessionId), 'created'),
    resolve: (ref) => open(ref, 'reattached'),
  }
  return { provider, forks, closed, failing, refOf }
}

test('a branch may start with copies of the workspaces of its source', async () => {
  const { provider, forks, refOf } = forkingProvider()
  const forker = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: {
      box: { provider: { kind: 'forking' }, capabilities: { fs: true, snapshot: true } },
      plain: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
    },
  })
  const providers = new Map<string, WorkspaceProvider>([
    ...workspaceProviders,
    ['forking', provider],
  ])
  const { executor, store } = createHarness([say('ok')], {
    workspaceProviders: providers,
    workspaceOpenStrategy: 'eager',
  })
  const options = { sessionId: 'source', keepWorkspaces: true }
  await (await executor.execute(forker, 'x', options)).result()
  const branch = { fromSessionId: 'source', sessionId: 'b', seedWorkspaces: 'snapshot' } as const
  await executor.branch(forker, branch)
  expect((await store.loadSession('b'))!.workspaceRefs).toEqual({ box: refOf('source-fork') })
  expect(forks).toEqual(['source'])
  expect(await store.loadSession('source')).toMatchObject({
    status: 'completed',
    output: 'ok',
    workspaceRefs: { box: refOf('source') },
  })
  await executor.branch(forker, { fromSessionId: 'source', sessionId: 'fresh' })
  expect((await store.loadSession('fresh'))!.workspaceRefs).toEqual({})
})

describe('a branch with copies that does not come to be', () => {
  const twoBoxes = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: Object.fromEntries(
      ['one', 'two'].map((name) => [
        name,
        { provider: { kind: 'forking', name }, capabilities: { fs: true, snapshot: true } },
      ]),
    ),
  })
  const branch = { fromSessionId: 'source', sessionId: 'b', seedWorkspaces: 'snapshot' } as const

  async function withTwoBoxes() {
    const forking = forkingProvider()
    const owed: OwedDestroy[] = []
    const harness = createHarness([say('ok')], {
      workspaceProviders: [forking.provider],
      workspaceOpenStrategy: 'eager',
      workspaceRegistry: { onOwedDestroy: (one) => void owed.push(one) },
    })
    const options = { sessionId: 'source', keepWorkspaces: true }
    await (await harness.executor.execute(twoBoxes, 'x', options)).result()
    return { ...harness, ...forking, owed }
  }

  test('leaves no copy behind when another one fails', async () => {
    const { executor, store, failing, forks, closed } = await withTwoBoxes()
    failing.add('two')
    const code = { code: 'provider-failed' }
    await expect(executor.branch(twoBoxes, branch)).rejects.toMatchObject(code)
    expect([forks, closed]).toEqual([['one'], ['one-fork']])
    expect(await store.loadSession('b')).toBeNull()
    const source = await store.loadSession('source')
    expect(source).toMatchObject({ status: 'completed', output: 'ok' })
    expect(Object.keys(source!.workspaceRefs)).toEqual(['one', 'two'])
  })

  test('reports a copy as owed that cannot be ended', async () => {
    const { executor, failing, owed, refOf } = await withTwoBoxes()
    failing.add('two').add('close one-fork')
    const code = { code: 'provider-failed' }
    await expect(executor.branch(twoBoxes, branch)).rejects.toMatchObject(code)
    expect(owed).toMatchObject([
      { workspace: 'one', reason: 'failed', ref: refOf('one-fork'), session: { sessionId: 'b' } },
    ])
  })

  test('leaves none behind when its session cannot be stored', async () => {
    const { executor, store, closed } = await withTwoBoxes()
    store.createSession = () => Promise.reject(new Error('store is full'))
    await expect(executor.branch(twoBoxes, branch)).rejects.toThrow('store is full')
    expect(closed.toSorted()).toEqual(['one-fork', 'two-fork'])
  })

  test('makes none when its id is taken', async () => {
    const { executor, forks } = await withTwoBoxes()
    const taken = { ...branch, sessionId: 'source' }
    await expect(executor.branch(twoBoxes, taken)).rejects.toMatchObject({ code: 'conflict' })
    expect(forks).toEqual([])
  })

  test('leaves its source alone while a run elsewhere holds it', async () => {
    const { executor, store, forks } = await withTwoBoxes()
    await store.beginRun({ sessionId: 'source', runId: 'r', leaseMs: 60_000, now: Date.now() })
    const code = { code: 'already-running' }
    await expect(executor.branch(twoBoxes, branch)).rejects.toMatchObject(code)
    expect(forks).toEqual([])
  })
})

test('copying the workspaces of a decided session does not undo the decision', async () => {
  const { provider } = forkingProvider()
  const forker = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: {
      box: { provider: { kind: 'forking' }, capabilities: { fs: true, snapshot: true } },
      // A name that every object has: it was never opened.
      constructor: { provider: { kind: 'forking' }, capabilities: { fs: true, snapshot: true } },
    },
  })
  const { executor, store } = createHarness([], { workspaceProviders: [provider] })
  const write = { sessionId: 'source', runId: 'dead', now: 0 }
  await store.createSession({ ...write, agentType: 'a', customState: undefined })
  await store.beginRun({ ...write, leaseMs: 1 })
  const ref = forkingProvider().refOf('box')
  await store.saveWorkspaceRef({ ...write, workspace: 'box', ref })
  const outcome = { status: 'completed', output: 'decided' } as const
  await store.commitStep({ ...write, messages: [], checkpointId: 'cp', outcome })
  const branch = { fromSessionId: 'source', sessionId: 'b', seedWorkspaces: 'snapshot' } as const
  await executor.branch(forker, branch)
  expect(await store.loadSession('source')).toMatchObject(outcome)
  expect(Object.keys((await store.loadSession('b'))!.workspaceRefs)).toEqual(['box'])
})
