import {
  defineAgent,
  defineTool,
  type FileSystem,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
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
      forks.push(id)
      return refOf(`${id}-fork`)
    }
    const snapshot = { snapshot: async () => ({ providerId: 'forking', ref: id }), restore }
    const ws = {
      id,
      isolation: 'none',
      fs: {} as FileSystem,
      snapshot,
      close: async () => {},
    } as const
    return { ws, ref, receipt: { outcome } }
  }
  const provider: WorkspaceProvider = {
    providerId: 'forking',
    capabilities,
    refSchemaVersion: 1,
    open: (_, { sessionId }) => open(refOf(sessionId), 'created'),
    resolve: (ref) => open(ref, 'reattached'),
  }
  return { provider, forks, refOf }
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
