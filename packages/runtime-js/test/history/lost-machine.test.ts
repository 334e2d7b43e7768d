// A machine dies with its files; another one runs its sessions.
import { defineAgent, SnapshotStoreError } from '@helix-agents/core'
import { portableSnapshots, type SnapshotStore } from '@helix-agents/core/provider'
import { InMemorySnapshotStore, InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])
const read = calls(['workspace__box__read_file', { path: '/a' }])
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})

/** A machine has files of its own, and shares the stores with the others. */
const machine = (files: SnapshotStore) =>
  portableSnapshots(new InMemoryWorkspaceProvider(), { store: files })

async function run(
  harness: ReturnType<typeof createHarness>,
  message: string,
): Promise<readonly string[]> {
  const options = { sessionId: 's', keepWorkspaces: true }
  await (await harness.executor.execute(agent, message, options)).result()
  const { messages } = await harness.store.loadMessages('s')
  const results = messages.filter(({ role }) => role === 'tool')
  return results.map(({ content }) => JSON.stringify(content))
}

test('its files come back with the newest step, and the model is told once', async () => {
  const [files, store] = [new InMemorySnapshotStore(), new InMemoryStateStore()]
  const first = createHarness([write('1'), write('2'), say('end')], {
    workspaceProviders: [machine(files)],
    store,
  })
  await run(first, 'x')
  const second = createHarness([read, read, write('3'), say('end')], {
    workspaceProviders: [machine(files)],
    store,
  })
  const [, , one = '', two = ''] = await run(second, 'y')
  expect(one).toContain('was restored')
  expect(one).toContain('Its files are those after step 2 of 3.')
  expect(one).toContain('2')
  expect(two).not.toContain('restored')
  expect(second.logger.with('workspace lost')).toHaveLength(1)
  // What it changed there is kept as well, and comes back on a third one.
  const third = createHarness([read, say('end')], { workspaceProviders: [machine(files)], store })
  const results = await run(third, 'z')
  expect(results.at(-1)).toContain('was restored')
  expect(results.at(-1)).toMatch(/\b3\b/)
})

test('without the blocks it begins anew, and the log says why', async () => {
  const [files, store] = [new InMemorySnapshotStore(), new InMemoryStateStore()]
  const first = createHarness([write('1'), say('end')], {
    workspaceProviders: [machine(files)],
    store,
  })
  await run(first, 'x')
  const second = createHarness([read, say('end')], {
    workspaceProviders: [machine(new InMemorySnapshotStore())],
    store,
  })
  expect((await run(second, 'y')).at(-1)).toContain('was started afresh')
  expect(second.logger.with('history: not restored')).toHaveLength(1)
})

test('a store that does not answer is asked again later: no file is given up', async () => {
  const [files, store] = [new InMemorySnapshotStore(), new InMemoryStateStore()]
  const first = createHarness([write('1'), say('end')], {
    workspaceProviders: [machine(files)],
    store,
  })
  await run(first, 'x')
  const silent = new InMemorySnapshotStore()
  silent.getManifest = () => Promise.reject(new SnapshotStoreError('unavailable', 'no answer'))
  const second = createHarness([read, say('end')], {
    workspaceProviders: [machine(silent)],
    workspaceRegistry: { transientRetryAttempts: 0 },
    store,
  })
  expect((await run(second, 'y')).at(-1)).toContain('provider-failed')
  const third = createHarness([read, say('end')], { workspaceProviders: [machine(files)], store })
  expect((await run(third, 'z')).at(-1)).toContain('was restored')
})
