// Any schedule of turns, restores, branches, moves, deletions and collections, of sessions that each have
// workspaces with two providers: nothing that a checkpoint needs is freed, and nothing else is left.
import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { action, Schedule } from './crash/schedule.ts'
import type { HomeName } from './crash/world.ts'

const sampler = new TestSampler()
const TIMEOUT_MS = sampler.size(7_200_000, 120_000)

/** Pairs of homes, and how many schedules are whole and sampled; a directory takes much longer. */
const homes: readonly (readonly [HomeName, HomeName, whole: number, sampled: number])[] = [
  ['in-memory', 'sandbox backups', 2500, 8],
  ['sandbox portable', 'in-memory', 2500, 8],
  ['cloudflare-filestore', 'sandbox backups', 2500, 8],
  ['in-memory', 'cloudflare-filestore', 2500, 8],
  ['local-bash', 'sandbox portable', 100, 1],
]

test.each(homes)(
  'schedules over %s and %s',
  { timeout: TIMEOUT_MS },
  async (box, lab, whole, sampled) => {
    const name = `crash-model ${box} ${lab}`
    const runs = { numRuns: sampler.size(whole, sampled), seed: sampler.seedOf(name) }
    const schedules = fc.array(action, { minLength: 2, maxLength: 8 })
    const property = fc.asyncProperty(schedules, async (actions) => {
      const schedule = new Schedule([box, lab])
      try {
        for (const one of actions) await schedule.run(one)
        await schedule.end()
      } finally {
        schedule.world.dispose()
      }
    })
    await expect(fc.assert(property, runs)).resolves.toBeUndefined()
  },
)
