// A process dies at every call of an import: the session is there with all its files or not at all, and
// what was made is freed by a collection as well as by the same import once more.
import { takeSnapshot } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { judge, judgeEnd, textsOf } from './crash/judge.ts'
import { DyingProcess } from './crash/process.ts'
import { CrashWorld, type HomeName, homeNames } from './crash/world.ts'

const sampler = new TestSampler()
/** A busy disk takes minutes for the deaths in a directory. */
const TIMEOUT_MS = sampler.size(3_600_000, 180_000)
/** Points of a run that is not exhaustive. */
const SAMPLED = 3

const texts = { '/d/a': 'two', '/d/large': 'large '.repeat(20) }
const ends = ['a collection', 'the same import'] as const
const names = ['box', 'lab'] as const

/** Files of a session whose process goes on. */
async function filesFrom() {
  const fs = new InMemoryFileSystem()
  for (const [path, text] of Object.entries(texts)) await fs.writeFile(path, text)
  const [scope, store] = ['away', new InMemorySnapshotStore()]
  const session = { sessionId: 'away', agentType: 'a' }
  const identity = { scope, session, workspace: 'box', workspaceId: 'box', providerId: 'x' }
  const { manifest } = await takeSnapshot(fs, store, identity)
  return { manifest, store, scope }
}
const files = await filesFrom()

const worldOf = (home: HomeName): CrashWorld => new CrashWorld([home], { box: home, lab: home })

function importInto(world: CrashWorld, process: DyingProcess): Promise<unknown> {
  world.ids.add('s')
  const messages = [{ role: 'user', content: 'go' }] as const
  const seed = { agentType: 'a', customState: undefined, messages }
  const given = { sessionId: 's', seed, files: { box: files, lab: files } }
  return world.executor(process).importSession(world.agent, given)
}

/** The points of an import that nothing disturbs. */
async function pointsOf(home: HomeName): Promise<readonly string[]> {
  const world = worldOf(home)
  try {
    const process = new DyingProcess()
    await importInto(world, process)
    await judgeWhole(world)
    return process.passed
  } finally {
    world.dispose()
  }
}

/** Whoever lists the sessions finds this one, and nothing else. */
async function judgeWhole(world: CrashWorld): Promise<void> {
  const { items } = await world.store.listSessions()
  expect(items.map(({ sessionId }) => sessionId)).toEqual(['s'])
  await judge(world)
  for (const name of names) expect(textsOf(await world.filesOf('s', name))).toEqual(texts)
}

async function dieAt(fatal: number, home: HomeName, end: (typeof ends)[number]): Promise<void> {
  const world = worldOf(home)
  try {
    const process = new DyingProcess(fatal)
    // What is done, and could not be tidied up, is no error.
    await Promise.allSettled([importInto(world, process)])
    expect(process.isDead).toBe(true)
    const isThere = (await world.store.loadSession('s')) !== null
    if (isThere || end === 'a collection') await world.settle()
    if (isThere) await judgeWhole(world)
    else if (end === 'a collection') await judgeNone(world)
    else {
      await importInto(world, new DyingProcess())
      await judgeWhole(world)
    }
    await judgeEnd(world)
  } finally {
    world.dispose()
  }
}

async function judgeNone(world: CrashWorld): Promise<void> {
  expect((await world.store.listSessions()).items).toEqual([])
  await judge(world)
}

test.each(homeNames)('into %s', { timeout: TIMEOUT_MS }, async (home) => {
  const points = await pointsOf(home)
  expect(points.length).toBeGreaterThan(20)
  const deaths = points.flatMap((label, index) =>
    ends.map((end) => ({ fatal: index + 1, label, end })),
  )
  for (const { fatal, label, end } of sampler.pick(`imports ${home}`, deaths, SAMPLED)) {
    try {
      await dieAt(fatal, home, end)
    } catch (cause) {
      throw new Error(`death at ${fatal}, ${label}, then ${end}`, { cause })
    }
  }
})
