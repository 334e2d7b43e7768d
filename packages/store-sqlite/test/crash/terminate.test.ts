// The polite end of a process: it is asked to stop, finishes its step and gives its session up.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import type { CrashLab } from './crash-lab.ts'
import { judge } from './judge.ts'
import { createRandom } from './random.ts'
import { withChild } from './with-child.ts'

const openLab = withChild()
const sampler = new TestSampler()
const STEPS = sampler.size(50, 16)
const STOPS = sampler.size(20, 5)
const MAX_POINTS = 150
const POLITE = JSON.stringify({ code: 0, signal: null, refused: false })

test('a session goes on after SIGTERM at once', { timeout: 120_000 }, async () => {
  const { seed } = sampler
  const random = createRandom(sampler.random('stops'))
  await openLab({ sessionId: 'stopped', steps: STEPS }, async (lab) => {
    const ends = new Set<string>()
    for (let stops = 0; stops < STOPS; stops += 1) {
      const points = random.below(MAX_POINTS)
      ends.add(await lab.watch(() => stopAt(lab, points)))
    }
    const last = await lab.next({ clockAheadMs: 0 })
    await lab.watch(() => last.ended)
    const { findings, told } = judge(await lab.collect())
    expect({ seed, findings }).toEqual({ seed, findings: [] })
    expect([...ends]).toEqual([POLITE])
    // Everything was finished before it was given up.
    expect(told).toMatchObject({ unknown: 0, 'not-started': 0, failed: 0 })
  })
})

/** No clock ahead: who gives a session up leaves nothing to wait for. */
async function stopAt(lab: CrashLab, points: number): Promise<string> {
  const child = await lab.next({ clockAheadMs: 0 })
  await child.until(() => child.hasSaid('working') && child.points >= points)
  child.kill('SIGTERM')
  const end = await child.ended
  expect(child.stderr).toBe('')
  return JSON.stringify({ ...end, refused: child.hasSaid('refused') })
}
