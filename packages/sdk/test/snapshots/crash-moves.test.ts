// A process dies at every call of a move between two homes of different kinds: the session has the old
// place or the new one, with all its files, and a collection leaves nothing else.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { judge, judgeEnd, textsOf } from './crash/judge.ts'
import { DyingProcess } from './crash/process.ts'
import { call, CrashWorld, type HomeName, homeNames } from './crash/world.ts'

const sampler = new TestSampler()
/** A busy disk takes minutes for the deaths in a directory. */
const TIMEOUT_MS = sampler.size(3_600_000, 180_000)
/** Of a run that is not exhaustive. */
const SAMPLED = { pairs: 6, points: 2 }

const kindOf = (name: HomeName): string => (name.startsWith('sandbox') ? 'sandbox' : name)
const pairs = homeNames.flatMap((from) =>
  homeNames.filter((to) => kindOf(to) !== kindOf(from)).map((to) => [from, to] as const),
)
const large = 'large '.repeat(20)
const files = { '/d/a': 'two', '/d/large': large }

/** A session that has written in two steps, in the home that it leaves. */
async function played(from: HomeName, to: HomeName): Promise<CrashWorld> {
  const world = new CrashWorld([from, to], { box: from })
  await world.run(
    new DyingProcess(),
    's',
    call('box', 'write_file', { path: '/d/large', content: large }),
    call('box', 'write_file', { path: '/d/a', content: 'two' }),
  )
  return world
}

async function move(world: CrashWorld, process: DyingProcess): Promise<unknown> {
  const [, target] = world.homes
  if (target === undefined) throw new Error('no home')
  const executor = world.executor(process)
  return executor.moveWorkspace(world.agent, 's', 'box', { to: target.config })
}

/** The points of a move that nothing disturbs. */
async function pointsOf(from: HomeName, to: HomeName): Promise<readonly string[]> {
  const world = await played(from, to)
  try {
    const process = new DyingProcess()
    await move(world, process)
    return process.passed
  } finally {
    world.dispose()
  }
}

async function dieAt(fatal: number, from: HomeName, to: HomeName): Promise<void> {
  const world = await played(from, to)
  try {
    const process = new DyingProcess(fatal)
    // After the switch, what fails is only tidying.
    await Promise.allSettled([move(world, process)])
    expect(process.isDead).toBe(true)
    await world.settle()
    await judge(world)
    expect(textsOf(await world.filesOf('s', 'box'))).toEqual(files)
    await world.run(
      new DyingProcess(),
      's',
      call('box', 'read_file', { path: '/d/a' }),
      call('box', 'write_file', { path: '/d/a', content: 'three' }),
    )
    expect(textsOf(await world.filesOf('s', 'box'))).toEqual({ ...files, '/d/a': 'three' })
    await judgeEnd(world)
  } finally {
    world.dispose()
  }
}

const sampledPairs = sampler.pick('crash pairs', pairs, SAMPLED.pairs)
test.each(sampledPairs)('from %s to %s', { timeout: TIMEOUT_MS }, async (from, to) => {
  const points = await pointsOf(from, to)
  expect(points.length).toBeGreaterThan(20)
  const numbers = points.map((label, index) => ({ fatal: index + 1, label }))
  for (const { fatal, label } of sampler.pick(`crash ${from} ${to}`, numbers, SAMPLED.points)) {
    try {
      await dieAt(fatal, from, to)
    } catch (cause) {
      throw new Error(`death at ${fatal}, ${label}`, { cause })
    }
  }
})
