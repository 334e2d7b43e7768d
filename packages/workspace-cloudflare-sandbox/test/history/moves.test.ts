import { expect, test } from 'vitest'
import { read, Story, write } from './story.ts'

const memory = { kind: 'in-memory' }
const LONGER_THAN_A_LEASE_MS = 3_600_000

async function moved(): Promise<Story> {
  const story = new Story()
  const agent = story.agent(memory)
  await story.run(agent, write('one'))
  await story.executor().moveWorkspace(agent, 's', 'box', { to: story.config })
  return story
}

test('a workspace that moved into a sandbox goes on there, and out of it again', async () => {
  const story = await moved()
  const agent = story.agent(memory)
  expect(await story.run(agent, read, write('two'))).not.toContain('error')
  const sandbox = await story.sandboxInUse()
  expect([...story.world.containers.keys()]).toEqual([sandbox])
  await story.executor().moveWorkspace(agent, 's', 'box', { to: memory })
  expect(await story.run(agent, read)).toContain('two')
  // A checkpoint has it still. It is ended when none has, and its end is known.
  expect([...story.world.containers.keys()]).toEqual([sandbox])
  await story.executor().deleteSession(agent, 's')
  expect([...story.world.containers.keys()]).toEqual([])
  expect([...story.directory]).toEqual([[sandbox, 'gone']])
})

test('a second stay does not find what the first has left, and a stop loses neither', async () => {
  const story = await moved()
  const agent = story.agent(memory)
  const first = await story.sandboxInUse()
  await story.executor().moveWorkspace(agent, 's', 'box', { to: story.config })
  const second = await story.sandboxInUse()
  expect(second).not.toBe(first)
  expect([...story.world.containers.keys()]).toEqual([second])
  expect(await story.run(agent, read)).toContain('one')
})

test('a sandbox that is shared takes no move, and nothing is made', async () => {
  const story = new Story()
  const agent = story.agent(memory)
  await story.run(agent, write('one'))
  const to = { ...story.config, id: 'shared', shareAcrossSessions: true }
  await expect(story.executor().moveWorkspace(agent, 's', 'box', { to })).rejects.toMatchObject({
    code: 'config-invalid',
  })
  expect([...story.world.touched]).toEqual([])
  expect(await story.run(agent, read)).toContain('one')
})

test('the ledger hears that the new home is there and waits for its session', async () => {
  const story = new Story()
  const agent = story.agent(memory)
  await story.run(agent, write('one'))
  const events: unknown[] = []
  story.lifecycle = {
    onOpen: ({ workspace, workspaceId }) => void events.push(['open', workspace, workspaceId]),
    onClose: ({ mode, workspaceId }) => void events.push([mode, workspaceId]),
  }
  await story.executor().moveWorkspace(agent, 's', 'box', { to: story.config })
  const home = await story.sandboxInUse()
  expect(events).toEqual([
    ['open', 'box', home],
    ['detach', home],
  ])
  story.lifecycle = {
    onOpen: () => {
      throw new Error('the ledger is away')
    },
  }
  await story.executor().moveWorkspace(agent, 's', 'box', { to: story.config })
  expect(await story.run(agent, read)).toContain('one')
})

test('what a session has let go and cannot be ended stays owed, and is ended by the next collection', async () => {
  const story = await moved()
  const agent = story.agent(memory)
  const first = await story.sandboxInUse()
  const executor = story.executor([], () => {})
  story.world.onCall = ({ name }) => {
    if (name === 'destroy') throw new Error('the platform is away')
  }
  await executor.moveWorkspace(agent, 's', 'box', { to: memory })
  expect(story.directory.get(String(first))).toBe('owed')
  expect(await story.executor().releaseWorkspaces(agent, 's')).toMatchObject({
    workspaces: 1,
    owed: 0,
  })
  expect(story.directory.get(String(first))).toBe('gone')
  const { released } = await story.store.loadHistory('s')
  expect(released.filter((one) => 'ref' in one && one.ref.providerId !== 'in-memory')).toEqual([])
})

test('a session frees no sandbox of another one', async () => {
  const story = await moved()
  const agent = story.agent(memory)
  const { box } = (await story.store.loadSession('s'))!.workspaceRefs
  await (await story.executor([write('x')]).execute(agent, 'go', { sessionId: 't' })).result()
  await story.store.recordReleased('t', { workspace: 'box', ref: box! }, 1)
  expect(await story.executor().releaseWorkspaces(agent, 't')).toMatchObject({ owed: 1 })
  expect(await story.run(agent, read)).toContain('one')
})

/** Dies before the call of that number, and never answers again. */
function dying(fatal: number): { gate: () => void; calls: () => number } {
  let calls = 0
  return {
    calls: () => calls,
    gate: () => {
      calls += 1
      if (calls >= fatal) throw new Error('the process is gone')
    },
  }
}

async function movable(): Promise<Story> {
  const story = new Story()
  await story.run(story.agent(memory), write('one'))
  await story.executor().moveWorkspace(story.agent(memory), 's', 'box', { to: story.config })
  return story
}

test(
  'a crash at any call of a move leaves the old place or the new one, and nothing else',
  { timeout: 120_000 },
  async () => {
    const agent = new Story().agent(memory)
    const whole = dying(Infinity)
    const first = await movable()
    await first.executor([], whole.gate).moveWorkspace(agent, 's', 'box', { to: first.config })
    const count = whole.calls()
    expect(count).toBeGreaterThan(20)
    for (let fatal = 1; fatal <= count; fatal += 1) {
      const story = await movable()
      const { gate } = dying(fatal)
      const move = story.executor([], gate).moveWorkspace(agent, 's', 'box', { to: story.config })
      // After the switch, what fails is only tidying.
      await move.catch(() => undefined)
      const next = story.executor()
      await story.clock.advance(LONGER_THAN_A_LEASE_MS)
      await next.releaseWorkspaces(agent, 's')
      const sandbox = await story.sandboxInUse()
      expect([fatal, ...story.world.containers.keys()]).toEqual([fatal, sandbox])
      expect(await story.run(agent, read)).toContain('one')
      await story.executor().deleteSession(agent, 's')
    }
  },
)
