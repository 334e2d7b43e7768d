// A session that waits for a person, over one SQLite file, whose process is killed before or after
// each operation of its store and of its tools: while it asks, is answered, resumes and runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { buildChild } from '../child-process.ts'
import { type Findings, findingsOf } from './judge-waiting.ts'
import { ALLOWED, type WaitingTask } from './waiting-session.ts'

const sampler = new TestSampler()
const timeout = sampler.size(600_000, 120_000)

interface Ended {
  readonly signal: NodeJS.Signals | null
  readonly points: number
  /** Where the calls had just had their effect. */
  readonly effectPoints: readonly number[]
}

async function run(child: string, task: WaitingTask): Promise<Ended> {
  const { PATH } = process.env
  const started = spawn(process.execPath, [child, JSON.stringify(task)], {
    env: { PATH, NODE_COMPILE_CACHE: `${child}.cache`, NODE_NO_WARNINGS: '1' },
  })
  const [out, err, [code, signal]] = await Promise.all([
    text(started.stdout),
    text(started.stderr),
    once(started, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(err)
  return { signal, points: 0, effectPoints: [], ...(out !== '' && (JSON.parse(out) as object)) }
}

interface Lab {
  readonly child: string
  readonly directory: string
}

async function openLab(): Promise<Lab> {
  const directory = temporaryDirectory()
  const child = await buildChild(directory, join(import.meta.dirname, 'waiting-child.ts'))
  return { child, directory }
}

function taskIn({ directory }: Lab, name: string): WaitingTask {
  const database = join(directory, `${name}.db`)
  return { database, effectLog: join(directory, `${name}.log`), clockAheadMs: 0 }
}

/** Lets a process die at a point, and another one work to the end. */
async function killAt(
  lab: Lab,
  dieAtPoint: number,
  over: Pick<WaitingTask, 'sabotage'> = {},
): Promise<Findings> {
  const task = { ...taskIn(lab, `at-${dieAtPoint}`), ...over }
  expect(await run(lab.child, { ...task, dieAtPoint })).toMatchObject({ signal: 'SIGKILL' })
  const rest = { ...task, clockAheadMs: 3_600_000 }
  expect(await run(lab.child, rest)).toMatchObject({ signal: null })
  return findingsOf(task)
}

test('a request is asked once, answered once, and its call runs once', { timeout }, async () => {
  const lab = await openLab()
  const whole = taskIn(lab, 'whole')
  const { points, effectPoints } = await run(lab.child, whole)
  expect([points > 100, effectPoints.length]).toEqual([true, ALLOWED.length])
  const { effects: all, ran } = await findingsOf(whole)
  expect([all.toSorted(), ran]).toEqual([ALLOWED.toSorted(), ALLOWED.length])

  const others = Array.from({ length: points }, (_, index) => index + 1)
  const drawn = sampler.pick('kills', others, 10)
  for (const dieAtPoint of new Set([...effectPoints.slice(0, 2), ...drawn])) {
    const { effects, findings, unknown } = await killAt(lab, dieAtPoint)
    expect({ dieAtPoint, findings, forbidden: effects.filter(isForbidden) }).toEqual({
      dieAtPoint,
      findings: [],
      forbidden: [],
    })
    expect(new Set(effects).size).toBe(effects.length)
    // Calls that were under way: two of them run beside each other.
    expect(unknown).toBeLessThanOrEqual(2)
  }
})

test('a store that does not keep that a call was started is noticed', { timeout }, async () => {
  const lab = await openLab()
  const { effectPoints } = await run(lab.child, taskIn(lab, 'whole'))
  const last = effectPoints.at(-1) ?? 0
  const { effects } = await killAt(lab, last, { sabotage: 'no-start' })
  expect(new Set(effects).size).toBeLessThan(effects.length)
})

function isForbidden(id: string): boolean {
  return !ALLOWED.includes(id)
}
