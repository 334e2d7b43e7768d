// Any schedule of turns, restores, branches and deletions, with a process that dies at any call: every
// snapshot that a checkpoint promises can be restored and holds what it held, and a collection finds all
// that is left behind.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { calls, say } from '../harness.ts'
import { agent, Process, World } from './world.ts'

const sampler = new TestSampler()
const NEVER = Number.POSITIVE_INFINITY

/** Numbers from 0 up to a limit, the same for one seed. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

type Random = ReturnType<typeof createRandom>

async function turn(world: World, process: Process, random: Random): Promise<void> {
  const sessionId = `s${random(2)}`
  world.ids.add(sessionId)
  if (world.deleting.has(sessionId)) return
  const steps = Array.from({ length: 1 + random(3) }, () =>
    random(3) === 0
      ? calls(['workspace__box__ls', { path: '/' }])
      : calls(['workspace__box__write_file', { path: '/a', content: String(random(1000)) }]),
  )
  const executor = world.executor(process, [...steps, say('end')])
  await (await executor.execute(agent, 'go', { sessionId })).result()
}

async function pick(world: World, random: Random) {
  const { items } = await world.store.listSessions({ limit: 200 })
  const session = items[random(items.length)]
  if (session === undefined) return undefined
  const page = await world.store.listCheckpoints(session.sessionId, { limit: 200 })
  const checkpoint = page.items[random(page.items.length)]
  return { sessionId: session.sessionId, checkpointId: checkpoint?.id ?? 'none' }
}

async function act(world: World, process: Process, random: Random): Promise<void> {
  const kind = random(10)
  if (kind < 4) return turn(world, process, random)
  const picked = await pick(world, random)
  if (picked === undefined) return
  const { sessionId, checkpointId } = picked
  const executor = world.executor(process, [])
  if (kind < 7) {
    const files = random(3) > 0
    await executor.restoreCheckpoint(agent, sessionId, checkpointId, { files })
  } else if (kind < 9) {
    const branchId = `b${world.ids.size}`
    world.ids.add(branchId)
    const branch = { fromSessionId: sessionId, sessionId: branchId, files: 'checkpoint' } as const
    await executor.branch(agent, { ...branch, checkpointId })
  } else {
    world.deleting.add(sessionId)
    await executor.deleteSession(agent, sessionId)
  }
}

/** Errors are those of a dead process, or of what is asked too late: the invariants judge. */
async function tryAct(world: World, process: Process, random: Random): Promise<void> {
  await Promise.allSettled([act(world, process, random)])
}

/** A new process after the lease of the dead one; it settles what was left and collects. */
async function settleAll(world: World): Promise<void> {
  const process = new Process(NEVER)
  await world.clock.advance(5000)
  const { items } = await world.store.listSessions({ limit: 200 })
  for (const { sessionId } of items) {
    // A removal that was cut short is repeated: the session promises nothing any more.
    if (world.deleting.has(sessionId)) {
      await world.executor(process, []).deleteSession(agent, sessionId)
      continue
    }
    const executor = world.executor(process, [say('end')])
    const recovered = await executor.recover(agent, sessionId).catch(() => undefined)
    if (recovered?.outcome === 'resumed') await recovered.handle.result()
    await executor.releaseWorkspaces(agent, sessionId, { graceMs: 0 })
  }
}

const texts = (all: readonly unknown[]): string[] =>
  all.map((one) => JSON.stringify(one)).toSorted()

async function audit(world: World): Promise<void> {
  for (const sessionId of world.ids) {
    const held = await world.provider.history.list(sessionId)
    const isStored = (await world.store.loadSession(sessionId)) !== null
    if (!isStored) {
      expect([sessionId, held]).toEqual([sessionId, { snapshots: [], workspaces: [] }])
      continue
    }
    const { snapshots, refs } = await world.store.loadHistory(sessionId)
    const promised = snapshots.flatMap(({ files }) => files.snapshot ?? [])
    for (const snapshot of promised) {
      expect(await world.contentOf(snapshot)).toBe(world.expected.get(JSON.stringify(snapshot)))
    }
    expect(texts(held.snapshots)).toEqual(texts(promised))
    expect(texts(refs)).toEqual(expect.arrayContaining(texts(held.workspaces)))
  }
}

async function play(seed: number): Promise<void> {
  const random = createRandom(seed)
  const world = new World()
  for (let life = 0; life < 3; life += 1) {
    const process = new Process(1 + random(120))
    for (let step = 0; step < 4 && !process.isDead; step += 1) await tryAct(world, process, random)
    await settleAll(world)
    await audit(world)
  }
}

test('no promised snapshot is freed, and nothing is left that a collection does not find', async () => {
  const first = sampler.seedOf('history')
  const count = sampler.size(10_000, 60)
  let played = 0
  for (; played < count; played += 1) {
    try {
      await play(first + played)
    } catch (cause) {
      throw new Error(`schedule ${first + played}`, { cause })
    }
  }
  expect(played).toBe(count)
}, 1_200_000)
