import { ManualClock } from '@helix-agents/core/testing'
import {
  InMemorySnapshotStore,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '@helix-agents/store-memory'
import { defineConformance } from '@helix-agents/workspace-conformance'
import {
  snapshotStoreBehaviours,
  storeBehaviours,
  streamBehaviours,
} from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'

const runner = { it, fails: it.fails }

describe('InMemoryStateStore', () => {
  defineConformance(runner, storeBehaviours, {
    create: async () => ({ store: new InMemoryStateStore() }),
  })
})

describe('InMemoryStreamManager', () => {
  const maxBufferedChunks = 10
  defineConformance(runner, streamBehaviours, {
    create: async () => ({
      streams: new InMemoryStreamManager({ maxBufferedChunks }),
      maxBufferedChunks,
    }),
    offers: ['immediate'],
  })
})

describe('InMemorySnapshotStore', () => {
  defineConformance(runner, snapshotStoreBehaviours, {
    create: async () => {
      const clock = new ManualClock()
      return {
        store: new InMemorySnapshotStore({ clock }),
        advance: (ms) => clock.advance(ms),
      }
    },
  })
})
