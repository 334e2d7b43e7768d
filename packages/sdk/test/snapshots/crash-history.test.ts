// A process dies at every call of what it does with snapshots: the old state or the new one, and a
// collection leaves nothing that no session needs.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { judge, judgeEnd, textsOf } from './crash/judge.ts'
import { DyingProcess } from './crash/process.ts'
import { call, CrashWorld, type HomeName, homeNames } from './crash/world.ts'

const sampler = new TestSampler()
/** A busy disk takes minutes for the deaths in a directory. */
const TIMEOUT_MS = sampler.size(3_600_000, 180_000)
/** Of a run that is not exhaustive. */
const SAMPLED = { cases: 10, points: 2 }

const write = (content: string) => call('box', 'write_file', { path: '/a', content })
const read = call('box', 'read_file', { path: '/a' })
const first = async (world: CrashWorld): Promise<string> => (await world.points('s'))[0] ?? ''

interface Operation {
  /** What is there before, beside a session that has written `one` and `two`. */
  readonly prepare?: (world: CrashWorld) => Promise<void>
  readonly run: (world: CrashWorld, process: DyingProcess) => Promise<unknown>
  /** Which texts the session may have afterwards, by the steps of its conversation. */
  readonly texts: Readonly<Record<number, readonly string[]>>
  /** What a branch has that it makes. */
  readonly branch?: string
  readonly isDeletion?: true
  /** It begins with a backend that is gone. */
  readonly isLoss?: true
}

const restore = async (world: CrashWorld, process: DyingProcess): Promise<unknown> =>
  world.executor(process).restoreCheckpoint(world.agent, 's', await first(world), { files: true })

const OPERATIONS: Readonly<Record<string, Operation>> = {
  take: {
    run: (world, process) => world.run(process, 's', write('three'), write('four')),
    texts: { 3: ['two', 'three'], 4: ['two', 'three', 'four'], 5: ['three', 'four'], 6: ['four'] },
  },
  open: {
    run: (world, process) => world.run(process, 'n', write('new')),
    texts: { 3: ['two'] },
  },
  restore: { run: restore, texts: { 1: ['one'], 3: ['two'] } },
  branch: {
    run: async (world, process) => {
      world.ids.add('b')
      const checkpointId = await first(world)
      const from = {
        fromSessionId: 's',
        sessionId: 'b',
        checkpointId,
        files: 'checkpoint',
      } as const
      return world.executor(process).branch(world.agent, from)
    },
    texts: { 3: ['two'] },
    branch: 'one',
  },
  seed: {
    run: (world, process) => {
      world.ids.add('b')
      const from = { fromSessionId: 's', sessionId: 'b', seedWorkspaces: 'snapshot' } as const
      return world.executor(process).branch(world.agent, from)
    },
    texts: { 3: ['two'] },
    branch: 'two',
  },
  collect: {
    prepare: async (world) => {
      await Promise.allSettled([restore(world, new DyingProcess('before sessions.forgetReleased'))])
      await world.clock.advance(5000)
      const dying = new DyingProcess('before sessions.restoreCheckpoint')
      await Promise.allSettled([restore(world, dying)])
      await world.clock.advance(5000)
    },
    run: (world, process) =>
      world.executor(process).releaseWorkspaces(world.agent, 's', { graceMs: 0 }),
    texts: { 1: ['one'] },
  },
  compare: {
    run: async (world, process) =>
      world.executor(process).diff(world.agent, 's', { from: await first(world) }),
    texts: { 3: ['two'] },
  },
  revive: {
    prepare: async ({ homes }) => homes[0]?.lose?.(),
    run: (world, process) => world.run(process, 's', read, write('three')),
    // A run that was cut off is followed by another step.
    texts: Object.fromEntries([3, 4, 5, 6, 7, 8].map((step) => [step, ['two', 'three']])),
    isLoss: true,
  },
  delete: {
    run: (world, process) => world.executor(process).deleteSession(world.agent, 's'),
    texts: {},
    isDeletion: true,
  },
}

async function played(home: HomeName, { prepare }: Operation): Promise<CrashWorld> {
  const world = new CrashWorld([home], { box: home })
  await world.run(new DyingProcess(), 's', write('one'), write('two'))
  await prepare?.(world)
  return world
}

async function pointsOf(home: HomeName, operation: Operation): Promise<readonly string[]> {
  const world = await played(home, operation)
  try {
    const process = new DyingProcess()
    await operation.run(world, process)
    return process.passed
  } finally {
    world.dispose()
  }
}

async function dieAt(fatal: number, home: HomeName, operation: Operation): Promise<void> {
  const world = await played(home, operation)
  try {
    const process = new DyingProcess(fatal)
    // What is done, and could not be tidied up, is no error.
    await Promise.allSettled([operation.run(world, process)])
    expect(process.isDead).toBe(true)
    if (operation.isLoss === undefined) await judgeTexts(world, operation)
    await world.settle(new Set(operation.isDeletion && ['s']))
    if (operation.isLoss) {
      await world.run(new DyingProcess(), 's', read)
      await world.settle()
    }
    await judge(world)
    await judgeTexts(world, operation)
    await judgeBranch(world, operation)
    await judgeEnd(world)
  } finally {
    world.dispose()
  }
}

/** Conversation and files are of the same moment. */
async function judgeTexts(world: CrashWorld, { texts }: Operation): Promise<void> {
  const session = await world.store.loadSession('s')
  if (session === null || Object.keys(texts).length === 0) return
  const { '/a': text } = textsOf(await world.filesOf('s', 'box'))
  expect([session.stepCount, texts[session.stepCount]]).toEqual([
    session.stepCount,
    expect.arrayContaining([text]),
  ])
}

async function judgeBranch(world: CrashWorld, { branch }: Operation): Promise<void> {
  if ((await world.store.loadSession('b')) === null) return
  expect(textsOf(await world.filesOf('b', 'box'))).toEqual({ '/a': branch })
}

const cases = homeNames.flatMap((home) =>
  Object.entries(OPERATIONS)
    .filter(([, { isLoss }]) => isLoss === undefined || home.startsWith('sandbox'))
    .map(([name]) => [name, home] as const),
)
const sampledCases = sampler.pick('crash operations', cases, SAMPLED.cases)

test.each(sampledCases)('%s in %s', { timeout: TIMEOUT_MS }, async (name, home) => {
  const operation = OPERATIONS[name]
  if (operation === undefined) throw new Error(`no operation ${name}`)
  const points = await pointsOf(home, operation)
  expect(points.length).toBeGreaterThan(10)
  const numbers = points.map((label, index) => ({ fatal: index + 1, label }))
  for (const { fatal, label } of sampler.pick(`${name} ${home}`, numbers, SAMPLED.points)) {
    try {
      await dieAt(fatal, home, operation)
    } catch (cause) {
      throw new Error(`death at ${fatal}, ${label}`, { cause })
    }
  }
})
