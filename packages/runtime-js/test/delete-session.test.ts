import { createSubAgentTool, defineAgent, StateStoreError } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionState } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { DEATHS, DoomedProcess, failingStore, failingStreams } from './crash/failing-store.ts'
import { calls, createHarness, type Harness, say, settle } from './harness.ts'

const LEASE_MS = 3_000
const llmConfig = { model: {} }
const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
const input = z.object({})
const write = (at: string) =>
  [`workspace__${at}__write_file`, { path: '/a', content: 'a' }] as const

const grandchild = defineAgent({ name: 'grandchild', llmConfig, workspaces: { deep: files } })
const child = defineAgent({
  name: 'child',
  llmConfig,
  workspaces: { own: files },
  tools: [createSubAgentTool(grandchild, input)],
})
const agent = defineAgent({
  name: 'parent',
  llmConfig,
  workspaces: { box: files },
  tools: [createSubAgentTool(child, input)],
})
const stuck = () => new Promise<never>(() => {})
const TREE = ['s', 's/s1-1', 's/s1-1/s1-1']

/** A provider that knows which of its workspaces were made and not closed. */
function countingProvider() {
  const inner = new InMemoryWorkspaceProvider()
  const open = new Set<string>()
  const blocked = new Set<string>()
  const counted = <T extends Awaited<ReturnType<WorkspaceProvider['open']>>>(opened: T): T => {
    const { ws } = opened
    const close = async (): Promise<void> => {
      if (blocked.has('close')) throw new Error('not today')
      await ws.close()
      open.delete(ws.id)
    }
    return { ...opened, ws: { ...ws, fs: ws.fs!, close } }
  }
  const provider: WorkspaceProvider = {
    providerId: inner.providerId,
    capabilities: inner.capabilities,
    refSchemaVersion: inner.refSchemaVersion,
    open: async (config, session, options) => {
      const opened = await inner.open(config as never, session, options)
      open.add(opened.ws.id)
      return counted(opened)
    },
    resolve: async (...args) => counted(await inner.resolve(...args)),
  }
  return { provider, open, blocked }
}

interface World extends ReturnType<typeof countingProvider> {
  readonly store: InMemoryStateStore
  readonly streams: InMemoryStreamManager
  readonly clock: ManualClock
  readonly harness: Harness
}

/** Three sessions with a workspace each; the deepest one waits for its model. */
async function startTree(): Promise<World> {
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const clock = new ManualClock()
  const counted = countingProvider()
  const steps = [
    calls(write('box'), ['subagent__child']),
    calls(write('own'), ['subagent__grandchild']),
    calls(write('deep')),
    stuck,
  ]
  const options = { clock, leaseMs: LEASE_MS, workspaceProviders: [counted.provider] }
  const harness = createHarness(steps, { store, streams, ...options })
  await harness.executor.execute(agent, 'x', { sessionId: 's', keepWorkspaces: true })
  await settle()
  expect(await idsOf(store)).toEqual(TREE.toReversed())
  expect(counted.open.size).toBe(3)
  return { store, streams, clock, harness, ...counted }
}

/** The same, when the process has died and its lease is out: another one has the clock now. */
async function leftTree(): Promise<World> {
  const world = await startTree()
  const clock = new ManualClock(world.clock.now() + 2 * LEASE_MS)
  return { ...world, clock, harness: world.harness.next([], { clock }) }
}

async function idsOf(store: InMemoryStateStore): Promise<readonly string[]> {
  return (await store.listSessions()).items.map(({ sessionId }) => sessionId)
}

/** What is left of the tree. */
async function restOf({ store, streams, open }: World) {
  const read = await Promise.all(TREE.map((id) => streams.read(id)))
  const streamsLeft = read.filter((chunks) => chunks !== null).length
  return { sessions: await idsOf(store), streams: streamsLeft, workspaces: open.size }
}

const NOTHING = { sessions: [], streams: 0, workspaces: 0 }

test('a session is removed with its sub-agents, workspaces and streams, and no other one', async () => {
  const world = await leftTree()
  const { store, harness } = world
  const base = { agentType: 'parent', customState: undefined, now: 0 }
  const others = ['s/notes', 's/s1-1x', 's2', 's/s9-9']
  for (const sessionId of others) await store.createSession({ ...base, sessionId })
  const removed = vi.spyOn(store, 'deleteSession')
  await harness.executor.deleteSession(agent, 's')
  // What is within goes first.
  expect(removed.mock.calls.flat()).toEqual(TREE.toReversed())
  expect(await restOf(world)).toEqual({ ...NOTHING, sessions: others.toReversed() })
  await harness.executor.deleteSession(agent, 's')
  await harness.executor.deleteSession(agent, 'never')
})

test('a completed session with kept workspaces is removed with them', async () => {
  const { provider, open } = countingProvider()
  const harness = createHarness([calls(write('box')), say('ok')], {
    workspaceProviders: [provider],
  })
  const options = { sessionId: 's', keepWorkspaces: true }
  await (await harness.executor.execute(agent, 'x', options)).result()
  expect(open.size).toBe(1)
  await harness.executor.deleteSession(agent, 's')
  expect([open.size, await harness.store.loadSession('s')]).toEqual([0, null])
})

describe('a session that runs', () => {
  test('is refused, here and in another process', async () => {
    const world = await startTree()
    const code = { code: 'already-running' }
    const elsewhere = world.harness.next([]).executor
    for (const executor of [world.harness.executor, elsewhere]) {
      await expect(executor.deleteSession(agent, 's')).rejects.toMatchObject(code)
    }
    await expect(elsewhere.deleteSession(agent, 's', { abortRun: true })).rejects.toMatchObject(
      code,
    )
    expect(await restOf(world)).toEqual({ sessions: TREE.toReversed(), streams: 3, workspaces: 3 })
  })

  test('is aborted first when that is asked for', async () => {
    const world = await startTree()
    const handle = await world.harness.executor.getHandle(agent, 's')
    await world.harness.executor.deleteSession(agent, 's', { abortRun: true })
    expect((await handle!.result()).status).toBe('aborted')
    expect(await restOf(world)).toEqual(NOTHING)
  })

  test('is aborted first also while it starts', async () => {
    const { executor, store } = createHarness([stuck])
    const plain = defineAgent({ name: 'parent', llmConfig })
    const start = executor.execute(plain, 'x', { sessionId: 's' })
    await executor.deleteSession(plain, 's', { abortRun: true })
    expect((await (await start).result()).status).toBe('aborted')
    expect(await store.loadSession('s')).toBeNull()
  })
})

test('nothing else is done with a session while it is removed', async () => {
  const { harness, store } = await leftTree()
  const removed = harness.executor.deleteSession(agent, 's')
  await expect(harness.executor.resume(agent, 's')).rejects.toMatchObject({
    code: 'already-running',
  })
  await removed
  expect(await idsOf(store)).toEqual([])
})

test('the session of another agent is not removed', async () => {
  const { harness, store } = await leftTree()
  await expect(harness.executor.deleteSession(child, 's')).rejects.toMatchObject({
    code: 'other-agent',
  })
  expect(await idsOf(store)).toEqual(TREE.toReversed())
})

describe('a workspace that cannot be ended', () => {
  test('keeps its session, which is not gone on with, for another attempt', async () => {
    const world = await leftTree()
    const { executor } = world.harness
    world.blocked.add('close')
    const removed = executor.deleteSession(agent, 's')
    await expect(removed).rejects.toMatchObject({ code: 'not-removed', sessionId: TREE[2] })
    expect(await world.store.loadSession('s')).toMatchObject({ status: 'aborted' })
    expect(await world.store.loadSession(TREE[2]!)).toMatchObject({ owed: ['deep'] })
    expect(await restOf(world)).toMatchObject({ sessions: TREE.toReversed(), workspaces: 3 })
    world.blocked.delete('close')
    await executor.deleteSession(agent, 's')
    expect(await restOf(world)).toEqual(NOTHING)
  })

  test('is left as it is when that is asked for', async () => {
    const world = await leftTree()
    world.blocked.add('close')
    await world.harness.executor.deleteSession(agent, 's', { keepWorkspaces: true })
    expect(await restOf(world)).toEqual({ ...NOTHING, workspaces: 3 })
  })

  test('may be one that no agent declares any more', async () => {
    const world = await leftTree()
    const now = defineAgent({ name: 'parent', llmConfig })
    await world.harness.executor.deleteSession(now, 's')
    expect(await restOf(world)).toEqual(NOTHING)
  })
})

test('what cannot be read is removed too, wherever in the tree it is', async () => {
  for (const damaged of TREE) {
    const world = await leftTree()
    const store = withDamaged(world.store, damaged)
    const { streams, clock, provider } = world
    const workspaceProviders = [provider]
    const { executor, logger } = createHarness([], { store, streams, clock, workspaceProviders })
    await executor.deleteSession(agent, 's')
    expect(await restOf(world)).toEqual({ ...NOTHING, workspaces: 1 })
    const told = logger.with('session cannot be read: its workspaces are left open')
    expect(told).toMatchObject([{ fields: { sessionId: damaged } }])
  }
})

/** A store in which one session is damaged. */
function withDamaged(store: InMemoryStateStore, damaged: string): InMemoryStateStore {
  const broken = new StateStoreError('corrupt', damaged, 'its row is damaged')
  const isSound = ({ sessionId }: SessionState): boolean => sessionId !== damaged
  const changed: Partial<InMemoryStateStore> = {
    loadSession: async (id) => (id === damaged ? Promise.reject(broken) : store.loadSession(id)),
    beginRun: async (run) =>
      run.sessionId === damaged ? Promise.reject(broken) : store.beginRun(run),
    listSessions: async (query) => {
      const page = await store.listSessions(query)
      const items = page.items.filter(isSound)
      if (items.length === page.items.length) return page
      return { ...page, items, unreadable: [{ sessionId: damaged, code: 'corrupt' }] }
    },
  }
  return new Proxy(store, {
    get: (target, key) => {
      const method: unknown = Reflect.get(changed, key) ?? Reflect.get(target, key)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}

describe.each(DEATHS)('a process that dies while it removes a session, %s', (death) => {
  test('leaves what another one removes, and nothing that goes on', async () => {
    const immortal = new DoomedProcess(Infinity)
    await removeBy(await leftTree(), immortal)
    const { length } = immortal.operations
    expect(length).toBe(22)
    for (let at = 1; at <= length; at++) {
      const world = await leftTree()
      const doomed = new DoomedProcess(at, death)
      await removeBy(world, doomed)
      const clock = new ManualClock(world.clock.now() + 2 * LEASE_MS)
      const next = world.harness.next([], { clock }).executor
      const before = await restOf(world)
      const isWhole =
        before.sessions.length === 3 && before.streams === 3 && before.workspaces === 3
      const check = await next.canResume(agent, 's')
      expect({ at, last: doomed.operations.at(-1), goesOn: check.canResume && !isWhole }).toEqual({
        at,
        last: doomed.operations.at(-1),
        goesOn: false,
      })
      await next.deleteSession(agent, 's')
      expect({ at, ...(await restOf(world)) }).toEqual({ at, ...NOTHING })
    }
  })
})

/** Removes the tree in a process of its own, to its end or its death. */
async function removeBy({ store, streams, clock, provider }: World, doomed: DoomedProcess) {
  const process = createHarness([], {
    store: failingStore(store, doomed),
    streams: failingStreams(streams, doomed) as InMemoryStreamManager,
    clock: new ManualClock(clock.now()),
    leaseMs: LEASE_MS,
    workspaceProviders: [provider],
  })
  const removed = process.executor.deleteSession(agent, 's').catch(() => undefined)
  await Promise.race([removed, settle().then(settle)])
}
