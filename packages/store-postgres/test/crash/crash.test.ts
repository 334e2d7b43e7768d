// No lost step, no doubled effect, no write of a stale owner, no gap in a stream.
// `HELIX_SEED` repeats the choices of a run, as far as timing allows.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { emptyPlace, opened } from '../opened.ts'
import { CrashLab, type Fate } from './crash-lab.ts'
import { judge } from './judge.ts'

const sampler = new TestSampler()
const kills = sampler.size(300, 9)
const steps = sampler.size(40, 8)
const sessionIds = Array.from({ length: sampler.size(30, 4) }, (_, n) => `s${n}`)
const leaseMs = 500

test(`three processes on one server survive ${kills} kills`, { timeout: 600_000 }, async () => {
  const url = await emptyPlace()
  const lab = new CrashLab({ url, sessionIds, steps, leaseMs, pauseMs: 20 })
  onTestFinished(() => lab.remove())
  await lab.build()
  await lab.run(fates())
  const { stateStore, streamManager } = await opened(url)
  const findings = await judge({ stateStore, streamManager }, { sessionIds, steps }, lab.effects())
  expect({ seed: sampler.seed, findings }).toEqual({ seed: sampler.seed, findings: [] })
  // When a session ends early, fewer processes are there to be killed.
  expect(lab.killed).toBeGreaterThan(0)
})

/** Most die at a point, some at any moment, and every fourth is frozen instead. */
function fates(): readonly Fate[] {
  const random = sampler.random('fates')
  return Array.from({ length: kills }, (_, n): Fate => {
    if (n % 4 === 3) return { kind: 'frozen', afterMs: 200 + random() * 800 }
    if (n % 2 === 1) return { kind: 'moment', afterMs: 200 + random() * 800 }
    return { kind: 'point', dieAtPoint: 4 + Math.floor(random() * 120) }
  })
}
