import { MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { fleetStoreBehaviours } from './fleet-store-behaviours.ts'

describe('MemoryFleetStore', () => {
  test.each(fleetStoreBehaviours)('$id', async ({ run }) => {
    await expect(run(new MemoryFleetStore())).resolves.toBeUndefined()
  })
})
