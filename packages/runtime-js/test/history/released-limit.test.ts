// What a session may leave behind has a limit: past it nothing is made before some of it is gone.
import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { beforeEach, expect, test } from 'vitest'
import { MAX_RELEASED } from '../../src/history/released-limit.ts'
import { calls, createHarness, say } from '../harness.ts'

const TEN_MINUTES_MS = 600_000
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})

const clock = new ManualClock()
let harness: ReturnType<typeof createHarness>
let checkpointId: string
beforeEach(async () => {
  const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])
  harness = createHarness([write, say('end')], {
    clock,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const options = { sessionId: 's', keepWorkspaces: true }
  await (await harness.executor.execute(agent, 'x', options)).result()
  checkpointId = (await harness.store.listCheckpoints('s')).items[0]?.id ?? ''
})

const left = async () => (await harness.store.loadHistory('s')).released.length

/** As processes leave them that die each time they make a branch. */
async function leaveBranches(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await harness.store.recordReleased('s', { branchId: `branch-${index}` }, clock.now())
  }
}

/** Of a provider that is not there any more. */
async function leaveBackends(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const ref = { providerId: 'gone', schemaVersion: 1, capabilities: {}, ref: { index } }
    await harness.store.recordReleased('s', { workspace: 'box', ref }, clock.now())
  }
}

const branch = () =>
  harness.executor.branch(agent, { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' })
const restore = () => harness.executor.restoreCheckpoint(agent, 's', checkpointId, { files: true })
const diff = () => harness.executor.diff(agent, 's', { from: checkpointId })
const move = () => harness.executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'in-memory' } })

test.each([
  ['branch', branch],
  ['restore', restore],
  ['move', move],
])('a %s is made with one less than the limit, and none with as many', async (_, make) => {
  await leaveBackends(MAX_RELEASED - 1)
  await make()
  await leaveBackends(MAX_RELEASED - (await left()))
  const before = await left()
  await harness.store.deleteSession('b')
  await expect(make()).rejects.toMatchObject({ code: 'provider-failed', transient: true })
  expect(await left()).toBe(before)
  expect(await harness.store.loadSession('b')).toBeNull()
  expect((await harness.store.loadSession('s'))?.workspaceRefs['box']).toBeDefined()
})

test('branches that were never made are gone ten minutes later, and the next one is made', async () => {
  await leaveBranches(MAX_RELEASED)
  await expect(branch()).rejects.toMatchObject({ code: 'provider-failed' })
  await clock.advance(TEN_MINUTES_MS)
  await branch()
  expect(await left()).toBe(0)
  expect(await harness.store.loadSession('b')).not.toBeNull()
})

test('a comparison makes no copy of files past the limit', async () => {
  await leaveBackends(MAX_RELEASED - 1)
  expect(await diff()).toMatchObject([{ workspace: 'box', total: 0 }])
  await leaveBackends(1)
  await expect(diff()).rejects.toMatchObject({ code: 'provider-failed', transient: true })
  expect(await left()).toBe(MAX_RELEASED)
})
