import { defineAgent } from '@helix-agents/core'
import type { SnapshotRef } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import {
  calls,
  createHarness,
  type Harness,
  say,
  settle,
  storedMessages,
  textOfResult,
} from '../harness.ts'

const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])
const read = calls(['workspace__box__read_file', { path: '/a' }])
const capabilities = { fs: true, snapshot: true } as const
const provider = { kind: 'in-memory' } as const
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider, capabilities, history: 'step' },
    plain: { provider, capabilities: { fs: true } },
  },
})

/** Three steps that write 1, 2 and 3, and an end. */
async function played() {
  const files = new InMemoryWorkspaceProvider()
  const store = new InMemoryStateStore()
  const steps = [write('1'), write('2'), write('3'), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [files], store })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const checkpoints = (await store.listCheckpoints('s')).items.toReversed()
  return { files, store, harness, ids: checkpoints.map(({ id }) => id) }
}

/** What the agent reads in the next turn of a session. */
async function readNext(harness: Harness, sessionId = 's'): Promise<string> {
  const next = harness.next([read, say('seen')])
  await (await next.executor.execute(agent, 'look', { sessionId })).result()
  const messages = await storedMessages(next, sessionId)
  return textOfResult(messages.findLast(({ role }) => role === 'tool'))
}

describe('a session that goes back', () => {
  test('has the files of its checkpoint when that is asked for, and those of now when not', async () => {
    for (const [files, content] of [
      [true, '1'],
      [['box'], '1'],
      [false, '3'],
    ] as const) {
      const { harness, ids, store } = await played()
      await harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files })
      expect(await store.loadSession('s')).toMatchObject({ stepCount: 1, status: 'interrupted' })
      expect(await readNext(harness)).toContain(content)
    }
  })

  test('keeps the files of now with the first step after it went back without them', async () => {
    const { harness, ids, store } = await played()
    await harness.executor.restoreCheckpoint(agent, 's', ids[0]!)
    await (await harness.next([say('on')]).executor.resume(agent, 's')).result()
    const [newest, first] = (await store.listCheckpoints('s')).items
    expect(newest!.workspaceSnapshots).not.toEqual(first!.workspaceSnapshots)
    await harness.executor.restoreCheckpoint(agent, 's', newest!.id, { files: true })
    expect(await readNext(harness)).toContain('3')
  })

  test('can go back again and again, and leaves one backend and the promised snapshots', async () => {
    const { harness, ids, files, store } = await played()
    for (const index of [2, 1, 0]) {
      await harness.executor.restoreCheckpoint(agent, 's', ids[index]!, { files: true })
    }
    await harness.executor.releaseWorkspaces(agent, 's')
    const held = await files.history.list('s')
    // The first one is that of the checkpoint.
    expect([held.snapshots.length, held.workspaces.length]).toEqual([1, 2])
    expect((await store.loadHistory('s')).released).toHaveLength(1)
    expect(await readNext(harness)).toContain('1')
    await harness.executor.deleteSession(agent, 's')
    expect(await files.history.list('s')).toEqual({ snapshots: [], workspaces: [] })
  })

  test('switches nothing when a snapshot is gone, and says of which workspace', async () => {
    const { harness, ids, files, store } = await played()
    const [oldest] = (await files.history.list('s')).snapshots
    await files.history.remove(oldest!)
    const before = await store.loadSession('s')
    const going = harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: true })
    await expect(going).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('"box"'),
    })
    const { leaseUntil: _, ...after } = (await store.loadSession('s'))!
    expect(after).toMatchObject({
      status: 'completed',
      stepCount: 4,
      workspaceRefs: before!.workspaceRefs,
    })
    expect(await readNext(harness)).toContain('3')
  })

  test('is refused files that a checkpoint does not have', async () => {
    const { harness, ids } = await played()
    const options = { files: ['plain'] }
    await expect(
      harness.executor.restoreCheckpoint(agent, 's', ids[0]!, options),
    ).rejects.toMatchObject({ code: 'files-missing' })
  })

  test('is refused while it runs', async () => {
    const { harness, ids, store } = await played()
    const hold = { sessionId: 's', runId: 'other', leaseMs: 1_000_000, now: Date.now(), hold: true }
    await store.beginRun(hold)
    await expect(
      harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: true }),
    ).rejects.toMatchObject({ code: 'already-running' })
  })
})

describe('a branch', () => {
  test('has the files of its checkpoint, and frees them alone', async () => {
    const { harness, ids, files } = await played()
    const branch = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
    await harness.executor.branch(agent, { ...branch, checkpointId: ids[1]! })
    expect(await readNext(harness, 'b')).toContain('2')
    expect(await readNext(harness)).toContain('3')
    await harness.executor.deleteSession(agent, 's')
    expect(await readNext(harness, 'b')).toContain('2')
    await harness.executor.deleteSession(agent, 'b')
    expect(await files.history.list('b')).toEqual({ snapshots: [], workspaces: [] })
  })

  test('that never came to be is found by its source', async () => {
    const { harness, files, store } = await played()
    store.createSession = () => Promise.reject(new Error('the process died'))
    const branch = { fromSessionId: 's', sessionId: 'b', files: 'checkpoint' } as const
    await expect(harness.executor.branch(agent, branch)).rejects.toThrow('died')
    expect((await files.history.list('b')).workspaces).toHaveLength(1)
    await harness.executor.releaseWorkspaces(agent, 's')
    expect((await files.history.list('b')).workspaces).toHaveLength(1)
    await harness.executor.releaseWorkspaces(agent, 's', { graceMs: 0 })
    expect((await files.history.list('b')).workspaces).toHaveLength(0)
    expect((await store.loadHistory('s')).released).toEqual([])
  })
})

test('what a run that died has taken and not stored is freed by the next one', async () => {
  const { harness, files, store } = await played()
  const commitStep = store.commitStep.bind(store)
  store.commitStep = () => Promise.reject(new Error('the process died'))
  const next = harness.next([write('lost')])
  await (await next.executor.execute(agent, 'go', { sessionId: 's' })).result()
  store.commitStep = commitStep
  expect((await files.history.list('s')).snapshots).toHaveLength(4)
  expect(await readNext(harness)).toContain('lost')
  const promised = (await store.loadHistory('s')).snapshots.map(
    (one): SnapshotRef => one.files.snapshot!,
  )
  expect((await files.history.list('s')).snapshots).toEqual(promised)
})

test('a restore by the model records the backend that it leaves', async () => {
  const files = new InMemoryWorkspaceProvider()
  const take = calls(['workspace__box__snapshot'])
  const harness = createHarness([write('1'), take], { workspaceProviders: [files] })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const message = (await storedMessages(harness)).findLast(({ role }) => role === 'tool')
  const text = textOfResult(message)
  const ref = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  const back = harness.next([calls(['workspace__box__restore', { ref }]), say('done')])
  await (await back.executor.execute(agent, 'back', { sessionId: 's' })).result()
  const { released } = await harness.store.loadHistory('s')
  expect(released).toMatchObject([{ workspace: 'box' }])
})

test('a provider without a history of its own goes back by way of the open workspace', async () => {
  const files = new InMemoryWorkspaceProvider()
  Object.assign(files, { history: undefined })
  const harness = createHarness([write('1'), write('2'), say('end')], {
    workspaceProviders: [files],
  })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const first = (await harness.store.listCheckpoints('s')).items.at(-1)
  expect((await harness.executor.diff(agent, 's', { from: first!.id }))[0]).toMatchObject({
    total: 1,
  })
  await harness.executor.restoreCheckpoint(agent, 's', first!.id, { files: true })
  expect(await readNext(harness)).toContain('1')
})

test('the open workspace is let go once it has made the other one', async () => {
  const { harness, files, ids } = await played()
  Object.assign(files, { history: undefined })
  const resolve = files.resolve.bind(files)
  const events: string[] = []
  files.resolve = async (...given) => {
    const opened = await resolve(...given)
    const { snapshot } = opened.ws
    const [restore, detach] = [snapshot!.restore.bind(snapshot), opened.ws.detach?.bind(opened.ws)]
    snapshot!.restore = async (...more) => {
      await settle()
      events.push('made')
      return restore(...more)
    }
    opened.ws.detach = async () => {
      events.push('let go')
      await detach?.()
    }
    return opened
  }
  await harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: true })
  expect(events.slice(0, 2)).toEqual(['made', 'let go'])
})

test('a backend of before that cannot be ended keeps its session from being removed', async () => {
  const { harness, files, ids, store } = await played()
  await harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: true })
  const [left] = (await store.loadHistory('s')).released
  const release = files.release.bind(files)
  files.release = async (ref) => {
    const isLeft = 'ref' in left! && JSON.stringify(left.ref.ref) === JSON.stringify(ref.ref)
    if (isLeft) throw new Error('it is busy')
    return release(ref)
  }
  const removing = harness.executor.deleteSession(agent, 's')
  await expect(removing).rejects.toMatchObject({ code: 'not-removed' })
  await expect(removing).rejects.toThrow(/: box$/)
  files.release = release
  await harness.executor.deleteSession(agent, 's')
  expect(await store.loadSession('s')).toBeNull()
})

test('the model reads once what a restore could not bring back', async () => {
  const { files, harness, ids } = await played()
  const resolve = files.resolve.bind(files)
  let lost: string | undefined = 'Not restored: 2 links.'
  files.resolve = async (...given) => {
    const opened = await resolve(...given)
    const receipt = { outcome: 'reattached' as const, ...(lost !== undefined && { detail: lost }) }
    lost = undefined
    return { ...opened, receipt }
  }
  await harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: ['box'] })
  expect(lost).toBeUndefined()
  expect(await readNext(harness)).toContain('Not restored: 2 links.')
  expect(await readNext(harness)).not.toContain('Not restored')
})
