import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { LONG, runMany } from './many-schedules.ts'

const sampler = new TestSampler()

// Two files, since test files run beside each other.
test('no schedule breaks a promise (2 of 2)', LONG, async () => {
  const tally = await runMany(sampler, { index: 1, of: 2 })
  expect(tally.created).toBeGreaterThan(0)
})
