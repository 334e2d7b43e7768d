import { expect, test, vi } from 'vitest'
import { read, Story, type Way, write } from './story.ts'

const ways: readonly Way[] = ['portable', 'backups']

async function played(way: Way): Promise<Story> {
  const story = new Story(way)
  await story.run(story.agent(story.config, true), write('one'), write('two'))
  return story
}

test.each(ways)('files go back with the conversation: %s', async (way) => {
  const story = await played(way)
  const agent = story.agent(story.config, true)
  const [first = ''] = await story.points()
  const [diff] = await story.executor().diff(agent, 's', { from: first })
  expect(diff?.changes).toMatchObject([{ path: '/a', change: 'changed' }])
  const old = await story.sandboxInUse()
  await story.executor().restoreCheckpoint(agent, 's', first, { files: true })
  const restored = await story.sandboxInUse()
  expect(restored).not.toBe(old)
  expect(await story.run(agent, read, write('three'))).not.toContain('error')
  expect(await story.run(agent, read)).toContain('three')
  expect(await story.sandboxInUse()).toBe(restored)
  await story.executor().releaseWorkspaces(agent, 's')
  // The copy of the comparison is ended; checkpoints have the sandbox that was let go.
  const kept = [String(old), String(restored)].toSorted()
  expect([...story.world.containers.keys()].toSorted()).toEqual(kept)
  const there = [...story.directory].filter(([, state]) => state !== 'gone')
  expect(there.map(([id]) => id).toSorted()).toEqual(kept)
  await story.executor().deleteSession(agent, 's')
  // The one in use is left to its sleep, as declared.
  expect([...story.world.containers.keys()]).toEqual([restored])
  expect(story.directory.get(String(old))).toBe('gone')
})

test.each(ways)('a container that lost its disk comes back with the last step: %s', async (way) => {
  const story = await played(way)
  const agent = story.agent(story.config, true)
  story.world.sleep()
  const told = await story.run(agent, read)
  expect(told).toContain('two')
  expect(told).toContain('was restored')
  expect(await story.run(agent, read)).toContain('two')
})

test.each(ways)('a branch has the files of its checkpoint: %s', async (way) => {
  const story = await played(way)
  const agent = story.agent(story.config, true)
  const [checkpointId = ''] = await story.points()
  const from = { fromSessionId: 's', checkpointId, sessionId: 'b', files: 'checkpoint' } as const
  await story.executor().branch(agent, from)
  await (await story.executor([read]).execute(agent, 'go', { sessionId: 'b' })).result()
  const { messages } = await story.store.loadMessages('b')
  const result = messages.findLast(({ role }) => role === 'tool')
  expect(JSON.stringify(result?.content)).toContain('one')
  expect(await story.run(agent, read)).toContain('two')
})

test.each(ways)('a branch begins with the files of now: %s', async (way) => {
  const story = new Story(way)
  const agent = story.agent(story.config, false, { snapshot: true })
  await story.run(agent, write('one'))
  const from = { fromSessionId: 's', sessionId: 'b', seedWorkspaces: 'snapshot' } as const
  await story.executor().branch(agent, from)
  expect(story.world.backups.size).toBe(0)
  await (await story.executor([read]).execute(agent, 'go', { sessionId: 'b' })).result()
  const { messages } = await story.store.loadMessages('b')
  const result = messages.findLast(({ role }) => role === 'tool')
  expect(JSON.stringify(result?.content)).toContain('one')
})

test('backups that no checkpoint needs any more are freed', async () => {
  const story = await played('backups')
  expect(story.world.backups.size).toBe(2)
  await story.executor().deleteSession(story.agent(story.config, true), 's')
  expect(story.world.backups.size).toBe(0)
})

test('backups of steps that a session went back over are freed, and the others are not', async () => {
  const story = await played('backups')
  const agent = story.agent(story.config, true)
  const [first = ''] = await story.points()
  await story.executor().restoreCheckpoint(agent, 's', first, { files: true })
  expect(story.world.backups.size).toBe(1)
  await story.executor().restoreCheckpoint(agent, 's', first, { files: true })
  expect(await story.run(agent, read)).toContain('one')
})

/** A process that dies once a backup was taken, before its step is stored. */
async function diedAfterTaking(story: Story): Promise<void> {
  const agent = story.agent(story.config, true)
  const commit = vi.spyOn(story.store, 'commitStep').mockRejectedValue(new Error('it is gone'))
  const executor = story.executor([write('three')])
  const handle = await executor.execute(agent, 'go', { sessionId: 's', keepWorkspaces: true })
  await Promise.allSettled([handle.result()])
  commit.mockRestore()
  await story.clock.advance(3_600_000)
  expect(story.world.backups.size).toBe(3)
  await story.executor().releaseWorkspaces(agent, 's')
}

test('a backup that was taken for a process that died is freed', async () => {
  const story = await played('backups')
  await diedAfterTaking(story)
  expect(story.world.backups.size).toBe(2)
})

test('not while a lost container would come back from it', async () => {
  const story = new Story('backups', { autoRestore: true })
  const agent = story.agent(story.config, true)
  await story.run(agent, write('one'), write('two'))
  await diedAfterTaking(story)
  story.world.sleep()
  expect(await story.run(agent, read)).toContain('three')
  await story.executor().deleteSession(agent, 's')
  expect(story.world.backups.size).toBe(0)
})

test('a backup that has expired is said to have, and nothing is switched', async () => {
  const story = await played('backups')
  const agent = story.agent(story.config, true)
  const [first = ''] = await story.points()
  const before = await story.sandboxInUse()
  await story.clock.advance(4 * 24 * 3_600_000)
  await expect(
    story.executor().restoreCheckpoint(agent, 's', first, { files: true }),
  ).rejects.toMatchObject({
    code: 'provider-failed',
    cause: { message: expect.stringContaining('has expired') },
  })
  expect(await story.sandboxInUse()).toBe(before)
})

test('a history without a bucket and without a store is rejected before anything is opened', async () => {
  const story = new Story('backups')
  const agent = story.agent({ kind: 'cloudflare-sandbox' }, true)
  await expect(story.executor().execute(agent, 'go', { sessionId: 's' })).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining('no backup bucket is declared (backupR2Binding)'),
  })
  expect(story.world.touched.size).toBe(0)
})
