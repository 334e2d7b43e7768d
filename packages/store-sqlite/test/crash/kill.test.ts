// A session over real files, real commands and one SQLite file, whose processes are killed again
// and again. `HELIX_CRASH_SEED` repeats the choices of a run, as far as timing allows.
import { expect, test } from 'vitest'
import { judge } from './judge.ts'
import { killOften } from './kill-often.ts'
import { chooseSeed, createRandom } from './random.ts'
import { withChild } from './with-child.ts'

const isQuick = process.env['HELIX_QUICK'] !== undefined
const kills = isQuick ? 15 : 200
const steps = isQuick ? 30 : 200
/** Tests that ask for 20 seconds or more are left out of the quick run. */
const timeout = isQuick ? 19_000 : 300_000
const openLab = withChild()

test(`a session of ${steps} steps survives ${kills} kills`, { timeout }, async () => {
  const seed = chooseSeed()
  await openLab({ sessionId: 'killed', steps }, async (lab) => {
    const killed = await killOften(lab, { random: createRandom(seed), kills })
    const { findings, told } = judge(await lab.collect())
    expect({ seed, findings }).toEqual({ seed, findings: [] })
    expect(killed).toBe(kills)
    // Otherwise nothing was at stake.
    expect(told.unknown).toBeGreaterThan(0)
    expect(told.done).toBeGreaterThan(told['not-started'])
  })
})
