// Strikes every statement, every end of a transaction, every call to the bucket and every piece of
// a source of every operation, in turn. Afterwards each file is wholly old or wholly new, the same
// operation can be done again, and a collection leaves nothing behind.
import { TestSampler } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../code-of.ts'
import { inObject } from '../objects.ts'
import { shapeOf, staleVersions, type Tree, treeOf } from './audit.ts'
import { FAULTS, type Plan } from './faulty-isolate.ts'
import { type Scenario, scenarios, type Stage } from './scenarios.ts'
import { snapshotScenarios } from './snapshot-scenarios.ts'
import { World } from './world.ts'

const sampler = new TestSampler()
/** A sample strikes about one of so many points, with some of the faults of each operation. */
const STRIDE = sampler.size(1, 9)
const FAULTS_OF_ONE = sampler.size(FAULTS.length, 2)

interface Trees {
  readonly before: Tree
  readonly after: Tree
}

async function prepare(world: World, scenario: Scenario): Promise<Stage> {
  const stage = await world.enter()
  world.startVersions()
  await scenario.prepare?.(stage.fs, stage.ws)
  if (!scenario.keepGarbage) await world.collectAll(stage.provider)
  world.alarmAt = undefined
  return stage
}

/** What the operation does when nothing goes wrong. */
function undisturbed(scenario: Scenario): Promise<Trees> {
  return inObject(async (storage) => {
    const world = new World(storage, scenario)
    const stage = await prepare(world, scenario)
    const before = await treeOf(stage.fs)
    await scenario.act(stage)
    const { fs, provider } = await world.enter()
    const after = await treeOf(fs)
    await world.collectAll(provider)
    expect(await world.faults()).toEqual([])
    return { before, after }
  })
}

/** One run with one fault: what it broke. Undefined when the operation has no such point. */
function struck(scenario: Scenario, plan: Plan, wanted: Trees): Promise<string[] | undefined> {
  return inObject(async (storage) => {
    const world = new World(storage, scenario)
    const stage = await prepare(world, scenario)
    stage.isolate.arm(plan)
    const code = await codeOf(scenario.act(stage))
    const { onlyThrough } = scenario
    if (onlyThrough !== undefined) assertThrough(stage.isolate.statements, onlyThrough)
    if (stage.isolate.struck === undefined) return undefined
    const problems = await aftermath({ world, stage, code, scenario }, plan, wanted)
    const place = `${plan.fault} ${plan.at} (${stage.isolate.struck})`
    return problems.map((problem) => `${place}: ${problem}`)
  })
}

function assertThrough(statements: readonly string[], view: string): void {
  expect(statements).toEqual([expect.stringContaining(`INSERT INTO ${view} `)])
}

interface Wreck {
  readonly world: World
  readonly stage: Stage
  readonly scenario: Scenario
  /** What the operation said; undefined when it went well. */
  readonly code: string | undefined
}

const lives = (plan: Plan): boolean => plan.fault === 'fail' || plan.fault === 'lost-reply'

function isSame(a: Tree, b: Tree): boolean {
  return JSON.stringify(shapeOf(a)) === JSON.stringify(shapeOf(b))
}

/** Looks at what is left, does the operation again when it did not happen, and collects. */
async function aftermath(wreck: Wreck, plan: Plan, wanted: Trees): Promise<string[]> {
  const { world, scenario } = wreck
  const { alarmAt } = world
  // Files that were removed are open no more, not even in the isolate that removed them.
  const isAlive = lives(plan) && scenario.closes !== true
  const stage = isAlive ? wreck.stage : await world.enter()
  const owes = stage.provider.nextCollectionAt() !== undefined
  const isUnwatched = owes && alarmAt === undefined && scenario.keepGarbage !== true
  const now = await treeOf(stage.fs)
  const problems = [
    ...(isUnwatched ? ['garbage without an alarm'] : []),
    ...verdictOf(wreck, plan, { now, wanted }),
    ...staleVersions(wanted.before, now),
  ]
  await wreck.stage.isolate.landLate()
  if (!isSame(now, wanted.after)) {
    const code = await codeOf(scenario.act(stage))
    if (code !== undefined) problems.push(`cannot be done again: ${code}`)
  }
  const again = scenario.closes === true ? await world.enter() : stage
  await world.collectAll(again.provider)
  problems.push(...(await world.faults()))
  const kept = await treeOf(again.fs)
  if (!isSame(kept, wanted.after)) problems.push(`not new after all: ${describeTree(kept)}`)
  return [...problems, ...staleVersions(now, kept)]
}

/** Whether the files are old or new, and as the operation said. */
function verdictOf(
  { code, stage }: Wreck,
  plan: Plan,
  { now, wanted }: { readonly now: Tree; readonly wanted: Trees },
): string[] {
  const isOld = isSame(now, wanted.before)
  const isNew = isSame(now, wanted.after)
  if (!isOld && !isNew) return [`neither old nor new: ${describeTree(now)}`]
  if (!lives(plan)) return []
  if (code === undefined) return isNew ? [] : ['went well and changed nothing']
  // What a source throws reaches the caller as it is.
  const isForeign = code.startsWith('not of') && stage.isolate.struck !== 'source'
  return [
    ...(isOld ? [] : [`failed with ${code} and happened`]),
    ...(isForeign ? [`threw ${code}`] : []),
  ]
}

function describeTree(tree: Tree): string {
  return JSON.stringify(shapeOf(tree))
}

describe.each(
  [...scenarios, ...snapshotScenarios].map((scenario) => [scenario.name, scenario] as const),
)('%s', (_, scenario) => {
  const faults = sampler.pick(`faults of ${scenario.name}`, FAULTS, FAULTS_OF_ONE)
  test.each(faults)('%s', { timeout: 120_000 }, async (fault) => {
    const wanted = await undisturbed(scenario)
    const problems: string[] = []
    const random = sampler.random(`${scenario.name} ${fault}`)
    for (let at = 1 + Math.floor(random() * STRIDE); ; at += STRIDE) {
      const found = await struck(scenario, { fault, at }, wanted)
      if (found === undefined) break
      problems.push(...found)
      points += 1
    }
    expect(problems).toEqual([])
  })
})

let points = 0

test('there were points to strike', () => {
  // As many as an operation has statements and awaits; a port that is not asked strikes nothing.
  expect(points).toBeGreaterThan((500 * FAULTS_OF_ONE) / (4 * STRIDE * FAULTS.length))
})
