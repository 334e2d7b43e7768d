// When a run renews its lease, and when not.
import { defineTool } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say, settle } from './harness.ts'

const LEASE_MS = 3000

/** A run that waits in its first step, on a store that counts its renewals. */
async function waiting() {
  const [clock, store, hold] = [new ManualClock(), new InMemoryStateStore(), gate()]
  const renewals: Promise<void>[] = []
  const renewRun = store.renewRun.bind(store)
  store.renewRun = (run) => {
    const renewal = renewRun(run)
    renewals.push(renewal)
    return renewal
  }
  const put = defineTool({
    name: 'put',
    description: '',
    inputSchema: z.object({}),
    execute: () => 'put',
  })
  const first = () => hold.opened.then(() => calls(['put'], ['put']))
  const harness = createHarness([first, say('done')], { clock, store, leaseMs: LEASE_MS })
  const handle = await harness.executor.execute(agentWith(put), 'Go', { sessionId: 's' })
  return { clock, store, hold, handle, renewals }
}

test('a lease that was renewed is good for its whole time: calls do not ask for it', async () => {
  const { clock, hold, handle, renewals } = await waiting()
  await clock.advance(LEASE_MS / 3)
  expect(renewals).toHaveLength(1)
  hold.open()
  expect((await handle.result()).status).toBe('completed')
  expect(renewals).toHaveLength(1)
})

test('a renewal that is under way when its run ends is the last one', async () => {
  const { clock, store, hold, handle } = await waiting()
  const [reached, answer] = [gate(), gate()]
  store.renewRun = () => (reached.open(), answer.opened)
  await clock.advance(LEASE_MS / 3)
  await reached.opened
  hold.open()
  expect((await handle.result()).status).toBe('completed')
  answer.open()
  await settle()
  expect(clock.pendingTimers).toBe(0)
})
