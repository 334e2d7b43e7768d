// A session that waits for a person, over one SQLite file, whose process is killed before or after
// each operation of its store and of its tools: while it asks, is answered, resumes and runs.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { findingsOf } from './judge-waiting.ts'
import { killAt, openLab, run, taskIn } from './waiting-lab.ts'
import { ALLOWED } from './waiting-session.ts'

const sampler = new TestSampler()
const timeout = sampler.size(600_000, 120_000)

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
