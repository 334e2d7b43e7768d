// What a branch, a move, a restore and a collection leave behind: nothing, or a record of it.
import { defineAgent, WorkspaceEvictedError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import {
  calls,
  createHarness,
  gate,
  gated,
  type Harness,
  say,
  settle,
  storedMessages,
  textOfResult,
} from '../harness.ts'

const provider = { kind: 'in-memory' } as const
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [gated],
  workspaces: {
    box: { provider, capabilities: { fs: true, snapshot: true }, history: 'step' },
  },
})
const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])
const read = calls(['workspace__box__read_file', { path: '/a' }])
const err = new Error('busy')
const graceMs = 0

async function played(options: object = {}, last = say('end')) {
  const files = new InMemoryWorkspaceProvider()
  const store = new InMemoryStateStore()
  const clock = new ManualClock(Date.now())
  const steps = [write('1'), write('2'), last]
  const harness = createHarness(steps, { workspaceProviders: [files], store, clock, ...options })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const ids = (await store.listCheckpoints('s')).items.map(({ id }) => id)
  return { harness, executor: harness.executor, logger: harness.logger, files, store, clock, ids }
}

async function readNext(harness: Harness, sessionId: string): Promise<string> {
  const next = harness.next([read, say('seen')])
  await (await next.executor.execute(agent, 'look', { sessionId })).result()
  const messages = await storedMessages(next, sessionId)
  return textOfResult(messages.findLast(({ role }) => role === 'tool'))
}

const from = { fromSessionId: 's', sessionId: 'b' } as const

test.each([
  ['with a history', {}],
  ['without one', { history: undefined }],
])('a copy of the files of now by a provider %s is one backend', async (_, change) => {
  const { harness, executor, files, store } = await played()
  const { history } = files
  Object.assign(files, change)
  const before = await history.list('s')
  const detached: string[] = []
  const resolve = files.resolve.bind(files)
  files.resolve = async (...given) => {
    const opened = await resolve(...given)
    opened.ws.detach = async () => void detached.push(given[1].session.sessionId)
    return opened
  }
  await executor.branch(agent, { ...from, seedWorkspaces: 'snapshot' })
  expect(detached).toContain('s')
  expect((await store.loadHistory('s')).released).toEqual([])
  expect((await store.loadSession('s'))?.leaseUntil).toBeUndefined()
  expect(await readNext(harness, 'b')).toContain('2')
  expect((await history.list('b')).workspaces).toHaveLength(1)
  expect(await history.list('s')).toEqual(before)
})

test('a move is refused while a call waits for a person, and says what to do', async () => {
  const { executor, store } = await played({}, calls(['gated']))
  const moving = executor.moveWorkspace(agent, 's', 'box', { to: provider })
  await expect(moving).rejects.toMatchObject({
    code: 'waiting',
    hint: 'Answer it first: what the call was shown about may move with the files.',
  })
  expect(await store.loadSession('s')).toMatchObject({ status: 'waiting' })
})

test.each<readonly [string, (parts: Awaited<ReturnType<typeof played>>) => Promise<unknown>]>([
  ['moves', ({ executor }) => executor.moveWorkspace(agent, 's', 'box', { to: provider })],
  ['goes back', ({ executor, ids }) => executor.restoreCheckpoint(agent, 's', ids[1]!)],
  ['is removed', ({ executor }) => executor.deleteSession(agent, 's')],
])('nothing runs in a session that %s', async (_, operate) => {
  const parts = await played()
  const [reached, hold] = [gate(), gate()]
  const load = parts.store.loadSession.bind(parts.store)
  const getCheckpoint = parts.store.getCheckpoint.bind(parts.store)
  const beginRun = parts.store.beginRun.bind(parts.store)
  const wait = async () => (reached.open(), hold.opened)
  parts.store.getCheckpoint = async (...given) => (await wait(), getCheckpoint(...given))
  parts.store.beginRun = async (start) => (await wait(), beginRun(start))
  const operating = operate(parts)
  await reached.opened
  parts.store.loadSession = load
  const running = parts.executor.execute(agent, 'y', { sessionId: 's' })
  await expect(running).rejects.toMatchObject({ code: 'already-running' })
  hold.open()
  await operating
})

test('a collection that has freed nothing writes nothing', async () => {
  const { executor, store } = await played()
  const forget = vi.spyOn(store, 'forgetReleased')
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(forget).not.toHaveBeenCalled()
})

test('a branch that never came to be is gone when all of it is: its list, and what it named', async () => {
  const { executor, files, store, clock, ids } = await played()
  await executor.restoreCheckpoint(agent, 's', ids[1]!, { files: true })
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  const ref = (await store.loadSession('s'))!.workspaceRefs['box']!
  const made = { workspace: 'box', ref: { ...ref, ref: { id: 'none' } } }
  await store.recordReleased('s', { branchId: 'gone', made }, clock.now())
  const list = vi.spyOn(files.history, 'list').mockRejectedValue(err)
  const release = vi.spyOn(files, 'release').mockResolvedValue()
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(release).toHaveBeenCalled()
  list.mockRestore()
  release.mockRejectedValue(err)
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  release.mockResolvedValue()
  const named = async () =>
    (await store.loadHistory('s')).released.filter((one) => 'branchId' in one)
  expect(await named()).toHaveLength(1)
  const report = await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(report).toMatchObject({ workspaces: expect.any(Number), owed: 0 })
  expect(await named()).toEqual([])
})

test('what a branch that never came to be holds is not kept for its source', async () => {
  const { executor, files, store, ids } = await played()
  const create = vi.spyOn(store, 'createSession').mockRejectedValue(err)
  const branching = executor.branch(agent, { ...from, files: 'checkpoint', checkpointId: ids[1]! })
  await expect(branching).rejects.toThrow(err)
  create.mockRestore()
  // The source has come to use the same backend.
  const [left] = (await files.history.list('b')).workspaces
  const loadHistory = store.loadHistory.bind(store)
  vi.spyOn(store, 'loadHistory').mockImplementation(async (id) => {
    const history = await loadHistory(id)
    return id === 's' ? { ...history, refs: [...history.refs, left!] } : history
  })
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect((await files.history.list('b')).workspaces).toEqual([])
})

test.each([
  ['closes it', undefined, 1],
  ['has lost it', new WorkspaceEvictedError('gone', { code: 'lost' }), 1],
  ['is busy', err, 0],
])('a provider that only closes, and %s, frees a backend', async (_, failure, workspaces) => {
  const { executor, files, logger, store, clock } = await played()
  const ref = { ...(await store.loadSession('s'))!.workspaceRefs['box']!, ref: { id: 'old' } }
  await store.recordReleased('s', { workspace: 'box', ref }, clock.now())
  const events: string[] = []
  Object.assign(files, { release: undefined, history: undefined })
  const close = async () => {
    await settle()
    events.push('closed')
  }
  const ws = { id: 'old', isolation: 'none', close } as const
  files.resolve = async () => {
    if (failure !== undefined) throw failure
    return { ws, ref, receipt: { outcome: 'reattached' } }
  }
  const report = await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(report).toEqual({ workspaces, snapshots: 0, owed: 1 - workspaces })
  expect(events).toEqual(failure === undefined ? ['closed'] : [])
  expect((await store.loadHistory('s')).released).toHaveLength(1 - workspaces)
  const of = { workspace: 'box', providerId: 'in-memory', sessionId: 's', agentType: 'a' }
  const line = { level: 'warn', message: 'history: not released', fields: { err, ...of } }
  expect(logger.lines).toEqual(workspaces === 1 ? [] : [line])
})

test('what cannot be freed is logged with its provider, and when there is none', async () => {
  const { executor, files, logger, store, clock } = await played()
  const ref = { ...(await store.loadSession('s'))!.workspaceRefs['box']!, providerId: 'gone' }
  await store.recordReleased('s', { workspace: 'old', ref }, clock.now())
  vi.spyOn(files.history, 'list').mockRejectedValue(err)
  await executor.releaseWorkspaces(agent, 's', { graceMs })
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'history: not listed',
      fields: { err, providerId: 'in-memory' },
    },
    {
      level: 'warn',
      message: 'history: not released',
      fields: { workspace: 'old', providerId: 'gone', sessionId: 's', agentType: 'a' },
    },
  ])
})

test('a listener that fails is logged, and a ledger hears the whole of what waits', async () => {
  const events: unknown[] = []
  const lifecycle = {
    onOpen: (event: object) => void events.push(event),
    onClose: (event: object) => {
      events.push(event)
      throw err
    },
  }
  const { executor, logger, store, ids } = await played({ lifecycle })
  events.length = 0
  logger.lines.length = 0
  await executor.branch(agent, { ...from, files: 'checkpoint', checkpointId: ids[0]! })
  const ref = (await store.loadSession('b'))!.workspaceRefs['box']!
  const event = {
    workspace: 'box',
    session: { agentType: 'a', sessionId: 'b' },
    providerId: 'in-memory',
    workspaceId: expect.any(String),
    ref,
  }
  expect(events).toEqual([
    { ...event, receipt: { outcome: 'reattached' } },
    { ...event, mode: 'detach' },
  ])
  expect(logger.lines).toEqual([
    { level: 'error', message: 'workspace lifecycle listener failed', fields: { err } },
  ])
})

test('only a branch may have files of another session', async () => {
  const { executor, files, ids } = await played()
  const restore = vi.spyOn(files.history, 'restore')
  await executor.restoreCheckpoint(agent, 's', ids[1]!, { files: true })
  await executor.branch(agent, { ...from, files: 'checkpoint' })
  expect(restore.mock.calls.map(([, options]) => options.allowCrossSession)).toEqual([false, true])
})

test('a restore that could not be stored, or told, is logged', async () => {
  const { executor, store, logger, ids, harness } = await played()
  const going = (files: boolean) => executor.restoreCheckpoint(agent, 's', ids[1]!, { files })
  vi.spyOn(store, 'restoreCheckpoint').mockRejectedValueOnce(err)
  await expect(going(true)).rejects.toThrow(err)
  vi.spyOn(harness.streams, 'startRun').mockRejectedValueOnce(err)
  await going(false)
  vi.spyOn(store, 'forgetReleased').mockRejectedValue(err)
  await going(true)
  const fields = { err, sessionId: 's' }
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'restored files are left to the next collection', fields },
    { level: 'error', message: 'stream readers not notified of restored checkpoint', fields },
    { level: 'warn', message: 'history: not collected', fields },
    { level: 'warn', message: 'history: not collected', fields },
  ])
})

test('a run that cannot collect what was left, nor take a snapshot, says so and goes on', async () => {
  const { harness, files, store, clock, ids } = await played()
  await harness.executor.restoreCheckpoint(agent, 's', ids[1]!, { files: true })
  await store.recordReleased('s', { branchId: 'gone' }, clock.now() - 1_000_000)
  vi.spyOn(store, 'forgetReleased').mockRejectedValue(err)
  const resolve = files.resolve.bind(files)
  files.resolve = async (...given) => {
    const opened = await resolve(...given)
    opened.ws.snapshot!.snapshot = () => Promise.reject(err)
    return opened
  }
  const next = harness.next([write('3'), say('end')])
  await (await next.executor.execute(agent, 'y', { sessionId: 's' })).result()
  expect(next.logger.with('history: not collected')).toEqual([
    { level: 'warn', message: 'history: not collected', fields: { err, sessionId: 's' } },
  ])
  expect(next.logger.with('history: snapshot failed')).toMatchObject([
    { level: 'warn', fields: { workspace: 'box', providerId: 'in-memory', sessionId: 's' } },
  ])
})

test('a copy is let go before it is opened as its session will', async () => {
  const { executor, files } = await played()
  const events: string[] = []
  const open = files.open.bind(files)
  files.open = async (...given) => {
    const opened = await open(...given)
    opened.ws.detach = async () => {
      await settle()
      events.push('let go')
    }
    return opened
  }
  const resolve = files.resolve.bind(files)
  files.resolve = async (...given) => (events.push('opened'), resolve(...given))
  await executor.moveWorkspace(agent, 's', 'box', { to: provider })
  expect(events.slice(-2)).toEqual(['let go', 'opened'])
})
