// Whether the workspaces of a session outlive its runs is remembered with the session.
import { createSubAgentTool, defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, type Harness, say, settle } from './harness.ts'

const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
const llmConfig = { model: {} }
const agent = defineAgent({ name: 'a', llmConfig, workspaces: { box: files } })
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])
const stuck = () => new Promise<never>(() => {})
const LEASE_MS = 3_000

const keptIn = async ({ store }: Harness, sessionId = 's'): Promise<readonly string[]> =>
  Object.keys((await store.loadSession(sessionId))!.workspaceRefs)

/** A session whose process died in the middle of a run, and the next process. */
async function leftBy(options: { readonly keepWorkspaces?: boolean }, base: Harness) {
  const clock = new ManualClock()
  const first = base.next([write, stuck], { clock, leaseMs: LEASE_MS })
  await first.executor.execute(agent, 'x', { sessionId: 's', ...options })
  await settle()
  const later = new ManualClock(clock.now() + 2 * LEASE_MS)
  return first.next([say('done')], { clock: later, leaseMs: LEASE_MS })
}

const newHarness = () =>
  createHarness([], { workspaceProviders: [new InMemoryWorkspaceProvider()] })

test.each([
  [{}, {}, ['box']],
  [{}, { keepWorkspaces: false }, []],
  [{ keepWorkspaces: true }, {}, ['box']],
  [{ keepWorkspaces: true }, { keepWorkspaces: false }, []],
  [{ keepWorkspaces: false }, {}, []],
  [{}, { keepWorkspaces: true }, ['box']],
])('execute with %j and recover with %j keeps %j', async (executed, recovered, kept) => {
  const harness = await leftBy(executed, newHarness())
  const recovery = await harness.executor.recover(agent, 's', recovered)
  expect(recovery.outcome).toBe('resumed')
  if (recovery.outcome === 'resumed') await recovery.handle.result()
  expect(await keptIn(harness)).toEqual(kept)
})

test('the handle of a session whose process died keeps the workspaces', async () => {
  const harness = await leftBy({}, newHarness())
  const handle = await harness.executor.getHandle(agent, 's')
  expect(await (await handle!.resume()).result()).toMatchObject({ status: 'completed' })
  expect(await keptIn(harness)).toEqual(['box'])
})

test('each turn goes by the last one that said something', async () => {
  const harness = newHarness()
  const told = [undefined, true, undefined, false, undefined]
  const kept: (readonly string[])[] = []
  for (const keepWorkspaces of told) {
    const { executor } = harness.next([write, say('ok')])
    const options = keepWorkspaces === undefined ? {} : { keepWorkspaces }
    await (await executor.execute(agent, 'x', { sessionId: 's', ...options })).result()
    kept.push(await keptIn(harness))
  }
  expect(kept).toEqual([['box'], ['box'], ['box'], [], []])
})

test('a sub-agent, a branch and other sessions remember nothing of it', async () => {
  const child = defineAgent({ name: 'child', llmConfig, workspaces: { own: files } })
  const tools = [createSubAgentTool(child, z.object({}))]
  const parent = defineAgent({ name: 'parent', llmConfig, tools })
  const own = calls(['workspace__own__write_file', { path: '/a', content: 'x' }])
  const { executor, store } = newHarness().next([
    calls(['subagent__child']),
    own,
    say('c'),
    say('p'),
  ])
  const options = { sessionId: 's', keepWorkspaces: true }
  await (await executor.execute(parent, 'x', options)).result()
  await executor.branch(parent, { fromSessionId: 's', sessionId: 'branch' })
  const sessions = (await store.listSessions()).items
  expect(sessions.map((one) => [one.sessionId, one.keepWorkspaces])).toEqual([
    ['branch', undefined],
    ['s/s1-0', undefined],
    ['s', true],
  ])
  expect((await store.loadSession('s/s1-0'))!.workspaceRefs).toEqual({})
})
