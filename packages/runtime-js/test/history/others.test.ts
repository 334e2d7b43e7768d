// A history and who else has the session, its files or its agent: what is compared, copied and freed then.
import { isDeepStrictEqual } from 'node:util'
import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, createHarness, say } from '../harness.ts'

const provider = { kind: 'in-memory' } as const
const box = { provider, capabilities: { fs: true }, history: 'step' } as const
const named = (name: string, workspaces: Readonly<Record<string, typeof box>> = { box }) =>
  defineAgent({ name, llmConfig: { model: {} }, workspaces })
const agent = named('a')
const other = named('b')
const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])

async function played() {
  const [files, store] = [new InMemoryWorkspaceProvider(), new InMemoryStateStore()]
  const clock = new ManualClock(Date.now())
  const harness = createHarness([write('1'), write('2'), say('end')], {
    workspaceProviders: [files],
    store,
    clock,
  })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const ids = (await store.listCheckpoints('s')).items.map(({ id }) => id)
  return { harness, executor: harness.executor, logger: harness.logger, files, store, clock, ids }
}

const hold = { sessionId: 's', runId: 'other', leaseMs: 60_000, hold: true }

test('checkpoints of a session that another process has are compared, its files of now are not', async () => {
  const { executor, store, clock, ids } = await played()
  await store.beginRun({ ...hold, now: clock.now() })
  const [, second, first] = ids as [string, string, string]
  const between = await executor.diff(agent, 's', { from: first, to: second })
  expect(between).toMatchObject([{ workspace: 'box', total: 1 }])
  for (const options of [{ from: first }, { from: first, to: 'now' }, { from: 'now', to: first }]) {
    const comparing = executor.diff(agent, 's', options)
    await expect(comparing).rejects.toMatchObject({ code: 'already-running' })
  }
  await store.endRun({ sessionId: 's', runId: 'other', now: clock.now(), status: 'completed' })
  store.beginRun = () => Promise.reject(new Error('no'))
  await expect(executor.diff(agent, 's', { from: first, to: second })).rejects.toThrow('no')
})

test('nothing is done for the agent of another session', async () => {
  const { executor, store, ids } = await played()
  const before = await store.loadSession('s')
  const refused = [
    () => executor.moveWorkspace(other, 's', 'box', { to: provider }),
    () => executor.releaseWorkspaces(other, 's'),
    () => executor.restoreCheckpoint(other, 's', ids[0]!),
    () => executor.branch(other, { fromSessionId: 's' }),
    () => executor.diff(other, 's', { from: ids[0]! }),
    () => executor.readFiles(other, 's', { checkpointId: ids[0]! }, async () => {}),
    () => executor.deleteSession(other, 's'),
    () => executor.send(other, 's', 'x'),
    () => executor.recover(other, 's'),
  ]
  for (const one of refused) {
    await expect(one()).rejects.toMatchObject({
      code: 'other-agent',
      message: 'session s: it belongs to agent a',
    })
  }
  expect(await store.loadSession('s')).toEqual(before)
  expect(await store.listQueuedMessages('s')).toEqual([])
  for (const one of [
    executor.moveWorkspace(agent, 'none', 'box', { to: provider }),
    executor.releaseWorkspaces(agent, 'none'),
    executor.send(agent, 'none', 'x'),
  ]) {
    await expect(one).rejects.toMatchObject({ code: 'not-resumable' })
  }
})

test('a move leaves one backend and no record, and keeps the old one for its checkpoints', async () => {
  const { executor, files, store } = await played()
  const before = (await files.history.list('s')).workspaces
  const report = await executor.moveWorkspace(agent, 's', 'box', { to: provider })
  expect(report).toMatchObject({ files: 1, bytes: 1, digest: expect.any(String), losses: [] })
  const { workspaces } = await files.history.list('s')
  // The old one is that of the checkpoints.
  const [made, ...others] = workspaces.filter(({ ref }) => !isDeepStrictEqual(ref, before[0]?.ref))
  expect(others).toEqual([])
  expect(made?.ref).toMatchObject({ id: report.workspaceId })
  const { released } = await store.loadHistory('s')
  expect(released).toMatchObject([{ workspace: 'box', ref: before[0]! }])
  const moving = executor.moveWorkspace(agent, 's', 'toolbox', { to: provider })
  await expect(moving).rejects.toThrow('agent a has no workspace "toolbox"')
  await store.createSession({ sessionId: 'n', agentType: 'a', customState: undefined, now: 1 })
  const early = executor.moveWorkspace(agent, 'n', 'box', { to: provider })
  await expect(early).rejects.toThrow('workspace "box" was not opened yet')
})

test('an import leaves no record, also when what it began before had to be freed', async () => {
  const { executor, store, ids } = await played()
  const target = createHarness([], { workspaceProviders: [new InMemoryWorkspaceProvider()] })
  const seed = { agentType: 'a', messages: [], customState: undefined }
  await executor.readFiles(agent, 's', { checkpointId: ids[0]! }, async (files) => {
    await target.executor.importSession(agent, { sessionId: 'n', seed, files: { box: files } })
    const wrong = { sessionId: 'm', seed: { ...seed, agentType: 'b' }, files: {} }
    await expect(target.executor.importSession(agent, wrong)).rejects.toMatchObject({
      code: 'other-agent',
      message: 'session m: it belongs to agent b',
    })
  })
  const sessions = (await target.store.listSessions()).items
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['n'])
  expect(await target.store.loadSession('n')).toHaveProperty('workspaceRefs.box')
  expect((await store.loadSession('s'))?.leaseUntil).toBeUndefined()
})

test('a record of an import that cannot be made ends it; one that cannot be removed is logged', async () => {
  const err = new Error('no')
  const target = createHarness([], { workspaceProviders: [new InMemoryWorkspaceProvider()] })
  const { executor, store, logger } = target
  const seed = { agentType: 'a', messages: [], customState: undefined }
  const create = store.createSession.bind(store)
  store.createSession = () => Promise.reject(err)
  await expect(executor.importSession(agent, { sessionId: 'n', seed })).rejects.toBe(err)
  store.createSession = (one) => (one.sessionId === 'n' ? Promise.reject(err) : create(one))
  const lost = new Error('the store is away')
  vi.spyOn(store, 'forgetReleased').mockRejectedValue(lost)
  await expect(executor.importSession(agent, { sessionId: 'n', seed })).rejects.toBe(err)
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'history: not released',
      fields: { err: lost, sessionId: 'n', agentType: 'a' },
    },
  ])
})

test('what cannot be gone back to says why, and what to do', async () => {
  const { executor, ids } = await played()
  const going = executor.restoreCheckpoint(agent, 's', ids[0]!, { files: ['toolbox'] })
  await expect(going).rejects.toMatchObject({
    code: 'files-missing',
    message: `session s: checkpoint ${ids[0]} has no files of workspace "toolbox": it declares no history`,
    hint: 'Go back without files, or to another checkpoint.',
  })
  await expect(executor.restoreCheckpoint(agent, 's', 'none')).rejects.toMatchObject({
    code: 'not-resumable',
    message: 'session s: it has no checkpoint none',
  })
  const two = named('a', { box, more: box })
  await expect(
    executor.readFiles(two, 's', { checkpointId: ids[0]! }, async () => {}),
  ).rejects.toThrow('session s: one of box, more must be named')
  await expect(
    executor.readFiles(agent, 's', { checkpointId: ids[0]!, workspace: 'x' }, async () => {}),
  ).rejects.toThrow('session s: there is no workspace "x" with a history')
})
