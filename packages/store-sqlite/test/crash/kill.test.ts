// A session over real files, real commands and one SQLite file, whose processes are killed again
// and again. `HELIX_SEED` repeats the choices of a run, as far as timing allows.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { judge } from './judge.ts'
import { killOften } from './kill-often.ts'
import { createRandom } from './random.ts'
import { withChild } from './with-child.ts'

const sampler = new TestSampler()
const kills = sampler.size(200, 12)
const steps = sampler.size(200, 42)
const spentOnKills = sampler.size(0.85, 0.4)
const timeout = sampler.size(300_000, 120_000)
const openLab = withChild()

test(`a session of ${steps} steps survives ${kills} kills`, { timeout }, async () => {
  const { seed } = sampler
  const random = createRandom(sampler.random('kills'))
  await openLab({ sessionId: 'killed', steps }, async (lab) => {
    const killed = await killOften(lab, { random, kills, spentOnKills })
    const { findings, told } = judge(await lab.collect())
    expect({ seed, findings }).toEqual({ seed, findings: [] })
    expect(killed).toBe(kills)
    // Otherwise nothing was at stake.
    expect(told.unknown).toBeGreaterThan(0)
    expect(told.done).toBeGreaterThan(told['not-started'])
  })
})
