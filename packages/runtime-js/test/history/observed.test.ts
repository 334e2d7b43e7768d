// What is done with the files of a session is seen: spans, metrics, health.
import { defineAgent } from '@helix-agents/core'
import { type Span, type Tracer, WorkspaceRegistry } from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})
const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])
const none = (): void => {}
const span: Span = {
  setAttribute: none,
  setAttributes: none,
  setStatus: none,
  recordException: none,
  end: none,
}

test('each operation has a span, a count and a time; a failed one is counted as such', async () => {
  const spans: string[] = []
  const tracer: Tracer = {
    startActiveSpan: (name, { attributes }, work) => {
      if (name.startsWith('helix.snapshot.')) {
        spans.push(`${name} ${attributes?.['helix.workspace.name']?.toString()}`)
      }
      return work(span)
    },
  }
  const metrics = createRecordingMetrics()
  const provider = new InMemoryWorkspaceProvider()
  const harness = createHarness([write('1'), write('2'), say('end')], {
    workspaceProviders: [provider],
    tracer,
    metrics,
  })
  const { executor, store } = harness
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const ids = (await store.listCheckpoints('s')).items.map(({ id }) => id)
  await executor.diff(agent, 's', { from: ids[2]!, to: ids[1]! })
  await executor.restoreCheckpoint(agent, 's', ids[2]!, { files: true })
  await executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'in-memory' } })
  const once = ['take', 'restore', 'diff', 'move', 'collect']
  for (const operation of once) expect(spans.join('\n')).toContain(`helix.snapshot.${operation} `)
  const box = { workspace: 'box', providerId: 'in-memory' }
  expect(metrics.calls('incSnapshot')).toContainEqual([box, 'take', 'success'])
  expect(metrics.count('observeSnapshotMs')).toBe(metrics.count('incSnapshot'))
  provider.history.restore = async () => {
    throw new Error('gone')
  }
  const kept = (await store.listCheckpoints('s')).items[0]!.id
  const restoring = executor.restoreCheckpoint(agent, 's', kept, { files: true })
  await expect(restoring).rejects.toMatchObject({ code: 'provider-failed' })
  expect(metrics.calls('incSnapshot')).toContainEqual([box, 'restore', 'error'])
})

test('the time of an operation is counted, whatever its end', async () => {
  const clock = new ManualClock(5000)
  const metrics = createRecordingMetrics()
  const provider = new InMemoryWorkspaceProvider()
  const { executor, store } = createHarness([write('1'), say('end')], {
    workspaceProviders: [provider],
    metrics,
    clock,
  })
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const { id } = (await store.listCheckpoints('s')).items[0]!
  const restore = provider.history.restore.bind(provider.history)
  provider.history.restore = async (...given) => {
    await clock.advance(70)
    return restore(...given)
  }
  await executor.restoreCheckpoint(agent, 's', id, { files: true })
  provider.history.restore = async () => {
    await clock.advance(30)
    throw new Error('gone')
  }
  await executor.restoreCheckpoint(agent, 's', id, { files: true }).catch(() => {})
  const times = metrics
    .calls('observeSnapshotMs')
    .filter(([, operation]) => operation === 'restore')
  expect(times.map(([, , ms]) => ms)).toEqual([70, 30])
})

test('health names the last snapshot, and the failure of one that no other has followed', async () => {
  const clock = new ManualClock(1000)
  let isBroken = false
  const provider = new InMemoryWorkspaceProvider()
  const open = provider.open.bind(provider)
  provider.open = async (...given) => {
    const opened = await open(...given)
    const { snapshot } = opened.ws
    const take = snapshot!.snapshot.bind(snapshot)
    snapshot!.snapshot = (options) =>
      isBroken ? Promise.reject(new Error('broken')) : take(options)
    return opened
  }
  const registry = new WorkspaceRegistry(agent.workspaces, {
    providers: new Map([['in-memory', provider]]),
    session: { sessionId: 's', agentType: 'a' },
    persistRef: async () => {},
    clock,
  })
  const change = () => registry.use('box', ({ live }) => live.fs!.writeFile('/a', 'x'))
  await change()
  expect(registry.describe()[0]).not.toHaveProperty('lastSnapshotAt')
  await registry.takeSnapshot('box')
  expect(registry.describe()[0]).toMatchObject({ lastSnapshotAt: 1000 })
  isBroken = true
  await clock.advance(500)
  await change()
  await expect(registry.takeSnapshot('box')).rejects.toThrow('broken')
  const failed = { snapshotFailedAt: 1500, snapshotErrorCode: 'internal' }
  expect(registry.describe()[0]).toMatchObject({ lastSnapshotAt: 1000, ...failed })
  isBroken = false
  await registry.takeSnapshot('box')
  expect(registry.describe()[0]).toMatchObject({ lastSnapshotAt: 1500 })
  expect(registry.describe()[0]).not.toHaveProperty('snapshotFailedAt')
  await registry.close({ mode: 'end' })
})
