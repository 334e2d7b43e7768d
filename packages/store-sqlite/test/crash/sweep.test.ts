// Where a kill at random seldom falls: the first and the last moments of a session. The process
// kills itself at each of its points in turn, so that a failure repeats.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import type { Finding } from './evidence.ts'
import { judge } from './judge.ts'
import { withChild } from './with-child.ts'

const sampler = new TestSampler()
const openLab = withChild()
/** The first writes a file, the second is a text. */
const STEPS = 2

test('a short session survives a kill at each of its points', { timeout: 120_000 }, async () => {
  const problems: { readonly dieAtPoint: number; readonly findings: readonly Finding[] }[] = []
  const count = await countPoints()
  expect(count).toBeGreaterThan(20)
  const points = Array.from({ length: count }, (_, index) => index + 1)
  let untold = 0
  for (const dieAtPoint of sampler.pick('points of a session', points, 5)) {
    const end = await dieAt(dieAtPoint)
    const findings = end.findings.filter(({ code }) => code !== 'output-untold')
    untold += end.findings.length - findings.length
    if (findings.length > 0) problems.push({ dieAtPoint, findings })
  }
  expect(problems).toEqual([])
  // The run was over and stored: nobody goes on with it, and its output is in the store only.
  expect(untold).toBeLessThanOrEqual(3)
})

interface SweepEnd {
  readonly findings: readonly Finding[]
}

/** @returns how many points a process passes that nobody kills. */
function countPoints(): Promise<number> {
  return openLab({ sessionId: 'swept', steps: STEPS }, async (lab) => {
    const child = await lab.next()
    await child.ended
    return child.points
  })
}

function dieAt(dieAtPoint: number): Promise<SweepEnd> {
  return openLab({ sessionId: 'swept', steps: STEPS }, async (lab) => {
    const doomed = await lab.next({ dieAtPoint })
    await doomed.ended
    const next = await lab.next()
    await next.ended
    if (next.stderr !== '') throw new Error(next.stderr)
    const { findings } = judge(await lab.collect())
    return { findings }
  })
}
