// An abort of a session whose turns wait in a queue.
import { defineAgent } from '@helix-agents/core'
import type { TurnQueuePort } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const LEASE_MS = 1000

test.each([
  ['is alive is stopped at once', LEASE_MS - 1, 1],
  ['has died is waited for: another one takes its turn over', LEASE_MS, 2],
])('a run whose worker %s', async (_, afterMs, looks) => {
  const clock = new ManualClock()
  const store = new InMemoryStateStore()
  const now = clock.now()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now })
  await store.beginRun({ sessionId: 's', runId: 'r', leaseMs: LEASE_MS, now })
  await clock.advance(afterMs)
  let asked = 0
  const turnQueue: TurnQueuePort = {
    enqueue: () => Promise.reject(new Error('nobody starts here')),
    turnStatus: () => Promise.reject(new Error('nobody reads here')),
    cancelTurns: async () => {
      asked += 1
      return { cancelled: 0, begun: false, active: asked === 1 }
    },
  }
  const { executor } = createHarness([], { clock, store, turnQueue })
  const handle = await executor.getHandle(agent, 's')
  const aborted = handle!.abort()
  await settle()
  expect(asked).toBe(1)
  await clock.advance(100)
  await aborted
  expect(asked).toBe(looks)
})
