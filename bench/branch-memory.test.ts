// A branch with files between two Durable Objects takes no more memory when the files are more.
import { TestSampler } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { branchHeap } from './harness/branch-heap.ts'

const sampler = new TestSampler()
const SIZES = sampler.isExhaustive ? [80, 200, 400] : [48]
/** MB that two objects in one isolate need, without garbage. The platform gives an isolate 128. */
const MOST = 100
const TIMEOUT_MS = sampler.size(1_800_000, 300_000)

test('the heap is that of a few blocks', { timeout: TIMEOUT_MS }, async () => {
  const peaks: Record<number, number> = {}
  for (const megabytes of SIZES) peaks[megabytes] = Math.round(await branchHeap(megabytes))
  if (sampler.isExhaustive) console.info('MB of files, and of heap at most', peaks)
  for (const peak of Object.values(peaks)) expect(peak).toBeLessThan(MOST)
  const [, some = 0, most = 0] = Object.values(peaks)
  // What is under way differs by that much from look to look.
  expect(most).toBeLessThanOrEqual(some * 1.2)
})
