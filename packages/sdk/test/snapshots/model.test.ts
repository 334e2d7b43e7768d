// Sessions take, restore, delete and sweep in any order and at once, and die at any await: every
// snapshot that is listed can be restored as it was taken, and what none names is freed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SnapshotModel, step } from './snapshot-model.ts'

const sampler = new TestSampler()

test('schedules over the memory store', { timeout: 600_000 }, async () => {
  const runs = { numRuns: sampler.size(10_000, 150), seed: sampler.seedOf('snapshot-model') }
  const schedules = fc.array(step, { maxLength: 12 })
  const property = fc.asyncProperty(schedules, async (steps) => {
    const clock = new ManualClock()
    const store = new InMemorySnapshotStore({ clock })
    const model = new SnapshotModel(store, clock)
    for (const one of steps) await model.run(one)
    await model.end()
    expect(store.bytes).toBe(0)
  })
  await fc.assert(property, runs)
})

test('schedules over the directory store', { timeout: 600_000 }, async () => {
  const runs = { numRuns: sampler.size(1000, 5), seed: sampler.seedOf('directory-model') }
  const schedules = fc.array(step, { minLength: 4, maxLength: 8 })
  const property = fc.asyncProperty(schedules, async (steps) => {
    const directory = mkdtempSync(join(tmpdir(), 'helix-model-'))
    try {
      const clock = new ManualClock(Date.now())
      const model = new SnapshotModel(new DirectorySnapshotStore({ directory, clock }), clock)
      for (const one of steps) await model.run(one)
      await model.end()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
  await expect(fc.assert(property, runs)).resolves.toBeUndefined()
})
