// What an operation has begun has ended when it answers, and it does one thing after the other.
import { takeSnapshot } from '@helix-agents/core/provider'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, say } from '../harness.ts'
import { agent, clean, endOf, inChild, type Played, played, provider, write } from './world.ts'

async function filesFrom() {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'text')
  const store = new InMemorySnapshotStore()
  const identity = { workspace: 'box', workspaceId: 'box', providerId: 'x', scope: 's' }
  const session = { sessionId: 'away', agentType: 'a' }
  const { manifest } = await takeSnapshot(fs, store, { ...identity, session })
  return { manifest, store, scope: 's' }
}

const from = { fromSessionId: 's', sessionId: 'b' } as const
const seed = { agentType: 'a', messages: [], customState: undefined }
type Operation = (parts: Played) => Promise<unknown>

const branchWithFiles: Operation = ({ executor }) =>
  executor.branch(agent, { ...from, files: 'checkpoint' })
const branchWithCopies: Operation = ({ executor }) =>
  executor.branch(agent, { ...from, seedWorkspaces: 'snapshot' })
const restoreWithFiles: Operation = ({ executor, ids }) =>
  executor.restoreCheckpoint(agent, 's', ids[1]!, { files: true })
const move: Operation = ({ executor }) =>
  executor.moveWorkspace(agent, 's', 'box', { to: provider })
const importFiles: Operation = async ({ executor }) =>
  executor.importSession(agent, { sessionId: 'b', seed, files: { box: await filesFrom() } })
const collect: Operation = ({ executor }) => executor.releaseWorkspaces(agent, 's', { graceMs: 0 })
const remove: Operation = ({ executor }) => executor.deleteSession(agent, 's')
const abort: Operation = async ({ executor }) => (await executor.getHandle(agent, 's'))!.abort()

test.each<readonly [string, Operation]>([
  ['a branch', ({ executor }) => executor.branch(agent, from)],
  ['a branch with the files of a checkpoint', branchWithFiles],
  ['a branch with copies of workspaces', branchWithCopies],
  ['a restore', ({ executor, ids }) => executor.restoreCheckpoint(agent, 's', ids[1]!)],
  ['a restore with files', restoreWithFiles],
  ['a move', move],
  ['an import', importFiles],
  ['a comparison', ({ executor, ids }) => executor.diff(agent, 's', { from: ids[1]! })],
  [
    'a look at files',
    ({ executor, ids }) =>
      executor.readFiles(agent, 's', { checkpointId: ids[1]! }, async () => {}),
  ],
  ['a collection', collect],
  ['a removal', remove],
  ['an abort', abort],
  [
    'a new session with a message',
    ({ executor }) => executor.send(agent, 'b', 'x', { create: {} }),
  ],
])('%s has ended when it answers', async (_, operate) => {
  const parts = await played()
  expect(await endOf(parts, () => operate(parts))).toEqual(clean)
})

const no = new Error('no')
const failOnce = <T extends object>(target: T, method: keyof T & string): void => {
  vi.spyOn(target, method as never).mockRejectedValueOnce(no)
}

test.each<readonly [string, end: string, fail: (parts: Played) => void, Operation]>([
  [
    'a branch with the files of a checkpoint',
    'provider-failed',
    ({ files }) => failOnce(files, 'resolve'),
    branchWithFiles,
  ],
  [
    'a branch with copies of workspaces',
    'no',
    ({ store }) => failOnce(store, 'createSession'),
    branchWithCopies,
  ],
  [
    'a restore with files',
    'no',
    ({ store }) => failOnce(store, 'restoreCheckpoint'),
    restoreWithFiles,
  ],
  ['a move', 'no', ({ store }) => failOnce(store, 'saveWorkspaceRef'), move],
  ['an import', 'no', ({ files }) => failOnce(files, 'resolve'), importFiles],
  [
    'an import whose session cannot be stored',
    'no',
    ({ store }) => {
      const create = store.createSession.bind(store)
      store.createSession = (one) => (one.sessionId === 'b' ? Promise.reject(no) : create(one))
    },
    importFiles,
  ],
  ['a removal', 'not-removed', ({ files }) => failOnce(files.history, 'remove'), remove],
])('%s that fails has ended when it says so', async (_, end, fail, operate) => {
  const parts = await played()
  fail(parts)
  expect(await endOf(parts, () => operate(parts))).toEqual({ ...clean, end })
})

test.each<readonly [string, Operation]>([
  ['a collection', collect],
  ['a removal', remove],
])('%s after branches that never came to be has ended when it answers', async (_, operate) => {
  const parts = await played()
  const { store, clock } = parts
  await restoreWithFiles(parts)
  failOnce(store, 'createSession')
  await expect(branchWithFiles(parts)).rejects.toThrow(no)
  const ref = (await store.loadSession('s'))!.workspaceRefs['box']!
  const unmade = { branchId: 'gone', made: { workspace: 'box', ref: { ...ref, ref: {} } } }
  await store.recordReleased('s', unmade, clock.now())
  await operate(parts).catch(() => {})
  expect(parts.pending).toMatchObject({ names: [], overlaps: [] })
})

test.each<readonly [string, Operation]>([
  ['an abort', abort],
  ['a removal', remove],
  [
    'another message',
    async ({ executor }) => (await executor.execute(agent, 'y', { sessionId: 's' })).result(),
  ],
])('%s ends the sub-agent of a step that was cut off', async (_, operate) => {
  const parts = await played((interrupt) => [
    write('1'),
    calls(['subagent__child']),
    () => (interrupt(), inChild),
    say('end'),
  ])
  expect(parts.status).toBe('interrupted')
  expect(await endOf(parts, () => operate(parts))).toEqual(clean)
  expect((await parts.store.loadSession('s/s2-0'))?.status ?? 'gone').toMatch(/^(?:aborted|gone)$/)
})
