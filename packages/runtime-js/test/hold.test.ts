// Something is done with what a session owns while it does not run: it is held against runs, and
// is afterwards what it was before, also when the process dies in between.
import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import type { FileSystem, WorkspaceProvider } from '@helix-agents/core/provider'
import type { RunStart, SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { DEATHS, DoomedProcess, failingStore } from './crash/failing-store.ts'
import { calls, say, settle } from './harness.ts'

const LEASE_MS = 60_000
const stuck = () => new Promise<never>(() => {})
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])

/** Workspaces that do nothing but fork. */
const forkingProvider: WorkspaceProvider = {
  providerId: 'forking',
  capabilities: { fs: true, snapshot: true },
  refSchemaVersion: 1,
  open: async (_, { sessionId }) => forkable(sessionId, 'created'),
  resolve: async ({ ref }) => forkable(String(ref), 'reattached'),
}

function forkable(id: string, outcome: 'created' | 'reattached') {
  const { providerId, capabilities } = forkingProvider
  const refTo = (ref: string) => ({ providerId, schemaVersion: 1, capabilities, ref })
  const snapshot = {
    snapshot: async () => ({ providerId, ref: id }),
    restore: async () => refTo(`${id}-fork`),
  }
  const ws = {
    id,
    isolation: 'none',
    fs: {} as FileSystem,
    snapshot,
    close: async () => {},
  } as const
  return { ws, ref: refTo(id), receipt: { outcome } }
}

class World {
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  readonly provider = new InMemoryWorkspaceProvider()
  now = 1_000_000

  process(
    steps: ConstructorParameters<typeof MockLLMAdapter>[0],
    store?: SessionStateStore,
    workspaceOpenStrategy: 'lazy' | 'eager' = 'lazy',
  ) {
    // A process that died has a clock that stands still: its claims run out.
    this.now += 2 * LEASE_MS
    const model = new MockLLMAdapter(steps)
    const executor = new JSAgentExecutor(store ?? this.store, this.streams, model, {
      clock: new ManualClock(this.now),
      leaseMs: LEASE_MS,
      workspaceProviders: [this.provider, forkingProvider],
      workspaceOpenStrategy,
    })
    return { executor, model }
  }

  /** A session that is done and keeps its workspace. */
  async completed(): Promise<void> {
    const { executor } = this.process([write, say('the answer')])
    const options = { sessionId: 's', keepWorkspaces: true }
    await (await executor.execute(agent, 'Go', options)).result()
  }

  head() {
    return this.store.loadSession('s')
  }
}

/** An abort of a session that does not run, by a process that dies at its n-th operation. */
async function abortAndDie(world: World, doomed: DoomedProcess): Promise<void> {
  const { executor } = world.process([], failingStore(world.store, doomed))
  const abort = executor.getHandle(agent, 's').then((handle) => handle?.abort())
  await Promise.race([abort.catch(() => undefined), settle()])
}

describe.each(DEATHS)('a process that dies while it ends a completed session, %s', (death) => {
  test('leaves it completed, with its output, whichever operation it is', async () => {
    for (let at = 1; at <= 8; at++) {
      const world = new World()
      await world.completed()
      const doomed = new DoomedProcess(at, death)
      await abortAndDie(world, doomed)
      const last = doomed.operations.at(-1)
      expect({ at, last, ...(await world.head()) }).toMatchObject({
        status: 'completed',
        output: 'the answer',
      })
      const { executor, model } = world.process([say('again?')])
      expect(await executor.canResume(agent, 's')).toMatchObject({ canResume: false })
      await (await executor.getHandle(agent, 's'))?.abort()
      expect(await world.head()).toMatchObject({ status: 'completed', workspaceRefs: {} })
      expect(model.callCount).toBe(0)
    }
  })
})

describe.each(DEATHS)('a process that dies while it copies workspaces, %s', (death) => {
  test('leaves their session as it was, and the branch whole or not at all', async () => {
    for (let at = 1; at <= 10; at++) {
      const world = new World()
      const forker = defineAgent({
        name: 'a',
        llmConfig: { model: {} },
        workspaces: {
          box: { provider: { kind: 'forking' }, capabilities: { fs: true, snapshot: true } },
        },
      })
      const first = world.process([say('the answer')], undefined, 'eager')
      const options = { sessionId: 's', keepWorkspaces: true }
      await (await first.executor.execute(forker, 'Go', options)).result()
      const before = await world.head()
      const doomed = new DoomedProcess(at, death)
      const { executor } = world.process([], failingStore(world.store, doomed))
      const branch = { fromSessionId: 's', sessionId: 'b', seedWorkspaces: 'snapshot' } as const
      const dying = executor.branch(forker, branch)
      await Promise.race([dying.catch(() => undefined), settle()])
      const { status, output, runId, workspaceRefs, stepCount } = before!
      const place = { at, last: doomed.operations.at(-1) }
      const kept = { status, output, runId, workspaceRefs, stepCount }
      expect({ ...place, ...(await world.head()) }).toMatchObject({ ...place, ...kept })
      const refs = (await world.store.loadSession('b'))?.workspaceRefs
      expect(Object.keys(refs ?? { box: 'none' })).toEqual(['box'])
      const again = { ...branch, sessionId: 'c' }
      expect((await world.process([]).executor.branch(forker, again)).sessionId).toBe('c')
    }
  })
})

test('a hold is no run: the runs of a session and the current one stay', async () => {
  const world = new World()
  await world.completed()
  const before = await world.head()
  await (await world.process([]).executor.getHandle(agent, 's'))?.abort()
  expect((await world.head())?.runId).toBe(before?.runId)
  expect(await world.store.listRuns('s')).toHaveLength(1)
})

test('a session that completes between the look at it and the hold keeps its output', async () => {
  const world = new World()
  const { executor } = world.process([write, () => Promise.reject(new Error('down'))])
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const other = world.process([say('the answer')]).executor
  const store = new Proxy(world.store, {
    get: (target, key: keyof SessionStateStore) => {
      if (key !== 'beginRun') return target[key].bind(target as never)
      return async (start: RunStart) => {
        await (await other.resume(agent, 's', { keepWorkspaces: true })).result()
        return target.beginRun(start)
      }
    },
  })
  await (await world.process([], store).executor.getHandle(agent, 's'))?.abort()
  expect(await world.head()).toMatchObject({ status: 'completed', output: 'the answer' })
})

test('readers of a run whose process died end when its session is aborted', async () => {
  const world = new World()
  const dead = world.process([write, stuck])
  await dead.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  const { executor } = world.process([])
  const handle = await executor.getHandle(agent, 's')
  const reader = handle!.stream()[Symbol.asyncIterator]()
  let next = await reader.next()
  const ended = (async () => {
    while (next.done !== true) next = await reader.next()
    return 'ended'
  })()
  await settle()
  await handle!.abort()
  expect(await Promise.race([ended, settle().then(() => 'waits')])).toBe('ended')
  expect((await world.head())?.status).toBe('aborted')
})
