// A session that waits for a person, over one SQLite file, whose process is killed before or after
// each operation of its store and of its tools: while it asks, is answered, resumes and runs.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { findingsOf } from './judge-waiting.ts'
import { type Death, killAt, openLab, run, taskIn } from './waiting-lab.ts'
import { ALLOWED } from './waiting-session.ts'

const sampler = new TestSampler()
const timeout = sampler.size(600_000, 120_000)

test('a request is asked once, answered once, and its call runs once', { timeout }, async () => {
  const lab = await openLab()
  const whole = taskIn(lab, 'whole')
  const { points, effects: count } = await run(lab.child, whole)
  expect([points > 100, count]).toEqual([true, ALLOWED.length])
  const { effects: all, ran } = await findingsOf(whole)
  expect([all.toSorted(), ran]).toEqual([ALLOWED.toSorted(), ALLOWED.length])

  const others = Array.from({ length: points }, (_, index) => index + 1)
  const drawn = sampler.pick('kills', others, 10).map((dieAtPoint): Death => ({ dieAtPoint }))
  for (const death of [{ dieAfterEffects: 1 }, { dieAfterEffects: 2 }, ...drawn]) {
    const { effects, findings, unknown } = await killAt(lab, death)
    expect({ death, findings, forbidden: effects.filter(isForbidden) }).toEqual({
      death,
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
  const last = { dieAfterEffects: ALLOWED.length }
  const { effects } = await killAt(lab, last, { sabotage: 'no-start' })
  expect(new Set(effects).size).toBeLessThan(effects.length)
})

function isForbidden(id: string): boolean {
  return !ALLOWED.includes(id)
}
