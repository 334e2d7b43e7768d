import { defineAgent, defineTool, WorkspaceFailedError } from '@helix-agents/core'
import type { SnapshotRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, gate, say, settle } from '../harness.ts'

const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])
const read = calls(['workspace__box__read_file', { path: '/a' }])
const agentOf = (history: 'step' | { on: 'step'; keep?: number; maxAgeMs?: number } = 'step') =>
  defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [changeInTool],
    workspaces: {
      box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history },
    },
  })

const once = (content: string) =>
  calls(['workspace__box__write_file', { path: '/a', content }], ['__finish__', {}])

const changeInTool = defineTool({
  name: 'change',
  description: '',
  inputSchema: z.object({}),
  annotations: { readOnly: true },
  execute: (_, { workspaces }) =>
    workspaces.use('box', ({ live }) => live.fs!.writeFile('/own', 'x').then(() => 'done')),
})

/** Counts what a provider and a store are asked for. */
function counted(options: ConstructorParameters<typeof InMemoryWorkspaceProvider>[0] = {}) {
  const provider = new InMemoryWorkspaceProvider(options)
  const store = new InMemoryStateStore()
  const commits: (string[] | undefined)[] = []
  const commitStep = store.commitStep.bind(store)
  store.commitStep = (commit) => {
    const files = commit.workspaceSnapshots
    commits.push(files && Object.values(files).map(({ missing = 'kept' }) => missing))
    return commitStep(commit)
  }
  return { provider, store, commits }
}

test('each step that changed files keeps them, and one that only reads adds nothing', async () => {
  const { provider, store, commits } = counted()
  const harness = createHarness([write('1'), read, calls(['change']), read, say('end')], {
    workspaceProviders: [provider],
    store,
  })
  await (await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })).result()
  expect(commits).toEqual([['kept'], undefined, ['kept'], undefined, undefined])
  const { items } = await store.listCheckpoints('s')
  const [end, third, changed, second, first] = items.map((one) => one.workspaceSnapshots)
  expect(end).toEqual(changed)
  expect(third).toEqual(changed)
  expect(second).toEqual(first)
  expect(first).not.toEqual(changed)
  // A further run that only reads adds nothing either.
  const next = harness.next([read, say('end')])
  await (await next.executor.execute(agentOf(), 'y', { sessionId: 's' })).result()
  expect(commits.slice(5)).toEqual([undefined, undefined])
})

test('a snapshot that fails leaves a step without files, is logged, and the next one has them', async () => {
  const { provider, store, commits } = counted()
  const harness = createHarness([write('1'), read, say('end')], {
    workspaceProviders: [brokenOnce(provider)],
    store,
  })
  const handle = await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(commits).toEqual([['failed'], ['kept'], undefined])
  expect(harness.logger.with('history: snapshot failed')).toHaveLength(1)
})

test('a snapshot that takes too long is a snapshot that failed', async () => {
  const { provider, store, commits } = counted()
  const clock = new ManualClock()
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asks = 0
  const harness = createHarness([write('1'), say('end')], {
    workspaceProviders: [
      snapshotsBy(provider, () => {
        asked[asks++]?.resolve()
        return new Promise(() => {})
      }),
    ],
    workspaceRegistry: { snapshotTimeoutMs: 1000 },
    store,
    clock,
  })
  const handle = await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })
  // The step after it tries again.
  for (const { promise } of asked) {
    await promise
    await clock.advance(1000)
  }
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(commits[0]).toEqual(['failed'])
})

test('what a step has evicted is freed before the run goes on', async () => {
  const { provider, store } = counted()
  const [reached, hold] = [gate(), gate()]
  const remove = provider.history.remove.bind(provider.history)
  vi.spyOn(provider.history, 'remove').mockImplementation(async (snapshot) => {
    reached.open()
    await hold.opened
    return remove(snapshot)
  })
  let isAsked = false
  const end = () => ((isAsked = true), say('end'))
  const options = { workspaceProviders: [provider], store }
  const harness = createHarness([write('1'), write('2'), end], options)
  const agent = agentOf({ on: 'step', keep: 1 })
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await reached.opened
  await settle()
  expect(isAsked).toBe(false)
  hold.open()
  expect(await handle.result()).toMatchObject({ status: 'completed' })
})

test('what cannot be freed is logged, and stays for the next collection', async () => {
  const { provider, store } = counted()
  vi.spyOn(provider.history, 'remove').mockRejectedValue(new Error('busy'))
  const steps = [write('1'), write('2'), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [provider], store })
  const agent = agentOf({ on: 'step', keep: 1 })
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(harness.logger.with('history: not released')).toHaveLength(1)
})

test('a provider that cannot list, and a collection that fails, are logged and end nothing', async () => {
  const { provider, store } = counted()
  const steps = [write('1'), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [provider], store })
  const agent = agentOf()
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const [checkpoint] = (await store.listCheckpoints('s')).items
  if (checkpoint === undefined) throw new Error('no checkpoint')

  const list = vi.spyOn(provider.history, 'list').mockRejectedValue(new Error('busy'))
  await harness.executor.restoreCheckpoint(agent, 's', checkpoint.id, { files: true })
  expect(harness.logger.with('history: not listed').length).toBeGreaterThan(0)
  expect(harness.logger.with('history: not collected')).toEqual([])

  list.mockRestore()
  vi.spyOn(store, 'forgetReleased').mockRejectedValue(new Error('busy'))
  await harness.executor.restoreCheckpoint(agent, 's', checkpoint.id, { files: true })
  // What was intended, and what was left: neither fails a restore that has happened.
  expect(harness.logger.with('history: not collected')).toHaveLength(2)
  expect((await store.loadSession('s'))?.status).toBe('interrupted')
})

test('limits evict the oldest, free them, and the checkpoints say so', async () => {
  const { provider, store } = counted()
  const steps = [write('1'), write('2'), write('3'), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [provider], store })
  const agent = agentOf({ on: 'step', keep: 2 })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const { items } = await store.listCheckpoints('s')
  expect(items.map((one) => one.workspaceSnapshots!['box']!.missing)).toEqual([
    undefined,
    undefined,
    undefined,
    'evicted',
  ])
  expect((await provider.history.list('s')).snapshots).toHaveLength(2)
})

test('what is too old is evicted with the next snapshot, the newest never', async () => {
  const { provider, store } = counted()
  const clock = new ManualClock()
  const agent = agentOf({ on: 'step', maxAgeMs: 1000 })
  const harness = createHarness([write('1'), say('end')], {
    workspaceProviders: [provider],
    store,
    clock,
  })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  await clock.advance(5000)
  const next = harness.next([write('2'), say('end')])
  await (await next.executor.execute(agent, 'y', { sessionId: 's' })).result()
  const { items } = await store.listCheckpoints('s')
  expect(items.map((one) => one.workspaceSnapshots!['box']!.missing)).toEqual([
    undefined,
    undefined,
    'evicted',
    'evicted',
  ])
})

test('a run that finds nothing left asks the provider for nothing', async () => {
  const { provider, store } = counted()
  const options = { workspaceProviders: [provider], store }
  const harness = createHarness([write('1'), say('end')], options)
  await (await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })).result()
  const list = vi.spyOn(provider.history, 'list')
  const next = harness.next([write('2'), say('end')])
  await (await next.executor.execute(agentOf(), 'y', { sessionId: 's' })).result()
  expect(list).not.toHaveBeenCalled()
})

test('what an earlier run has kept counts, also when its workspaces are gone', async () => {
  const { provider, store } = counted()
  const agent = { ...agentOf({ on: 'step', keep: 1 }), outputSchema: z.object({}) }
  const harness = createHarness([once('1')], { workspaceProviders: [provider], store })
  const options = { sessionId: 's', keepWorkspaces: false }
  await (await harness.executor.execute(agent, 'x', options)).result()
  expect(await store.loadSession('s')).toMatchObject({ stepCount: 1, workspaceRefs: {} })
  await (await harness.next([once('2')]).executor.execute(agent, 'y', options)).result()
  const { items } = await store.listCheckpoints('s')
  const missing = items.map((one) => one.workspaceSnapshots!['box']!.missing)
  expect(missing).toEqual([undefined, 'evicted'])
})

test('so is what has become too old while the run goes on', async () => {
  const { provider, store } = counted()
  const clock = new ManualClock()
  const later = async () => {
    await clock.advance(5000)
    return write('2')
  }
  const options = { workspaceProviders: [provider], store, clock }
  const { executor } = createHarness([write('1'), later, say('end')], options)
  const agent = agentOf({ on: 'step', maxAgeMs: 1000 })
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const { items } = await store.listCheckpoints('s')
  const missing = items.map((one) => one.workspaceSnapshots!['box']!.missing)
  expect(missing).toEqual([undefined, undefined, 'evicted'])
})

test('more snapshots are kept than a workspace keeps for its model', async () => {
  const { provider, store } = counted()
  const steps = Array.from({ length: 30 }, (_, step) => write(String(step)))
  const harness = createHarness([...steps, say('end')], { workspaceProviders: [provider], store })
  await (await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })).result()
  expect((await provider.history.list('s')).snapshots).toHaveLength(30)
})

test('a provider without snapshots is refused before anything is opened', async () => {
  const { provider, store } = counted()
  const plain = Object.assign(Object.create(provider), { capabilities: { fs: true } })
  const { executor } = createHarness([say('x')], { workspaceProviders: [plain], store })
  await expect(executor.execute(agentOf(), 'x', { sessionId: 's' })).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining('declares a history'),
  })
})

test('a history that is none is a problem of the definition', () => {
  const history = { on: 'step' as const, keep: 0 }
  expect(() => agentOf(history)).toThrow('workspace box: history')
})

function brokenOnce(provider: InMemoryWorkspaceProvider): InMemoryWorkspaceProvider {
  let isBroken = true
  return snapshotsBy(provider, async (take) => {
    if (!isBroken) return take()
    isBroken = false
    throw new WorkspaceFailedError('provider-failed', 'no room')
  })
}

/** A provider whose snapshots are taken by `by`. */
function snapshotsBy(
  provider: InMemoryWorkspaceProvider,
  by: (take: () => Promise<SnapshotRef>) => Promise<SnapshotRef>,
): InMemoryWorkspaceProvider {
  const open = provider.open.bind(provider)
  provider.open = async (...given) => {
    const opened = await open(...given)
    const { snapshot } = opened.ws
    const take = snapshot!.snapshot.bind(snapshot)
    snapshot!.snapshot = (options) => by(() => take(options))
    return opened
  }
  return provider
}
