// A process dies while a sub-agent works. The lease of the sub-agent is younger than that of its
// parent, and nobody may have to wait for it: who has the parent has the sub-agent.
import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say, settle } from './harness.ts'

const LEASE_MS = 60_000
const START_MS = 1_000_000
/** The sub-agent starts so long after its parent, before the first renewal. */
const LATER_MS = 15_000

const work = { isHanging: true, hung: Promise.withResolvers<void>() }
const hang = defineTool({
  name: 'hang',
  description: 'Does not end in the first process.',
  inputSchema: z.object({}),
  annotations: { readOnly: true },
  execute: () => {
    if (!work.isHanging) return 'worked'
    work.hung.resolve()
    return new Promise<string>(() => {})
  },
})
const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [hang] })
const agent = defineAgent({
  name: 'parent',
  llmConfig: { model: {} },
  tools: [createSubAgentTool(child, z.object({ task: z.string() }))],
})
const delegate = calls(['subagent__child', { task: 't' }])

test.each([
  ['before a renewal', LATER_MS, LATER_MS],
  ['after renewals of both', LATER_MS, 38_000],
])('a sub-agent goes on as soon as its parent does, %s', async (_, startsAfterMs, diesAfterMs) => {
  work.isHanging = true
  work.hung = Promise.withResolvers()
  const asked = Promise.withResolvers<void>()
  const dying = new ManualClock(START_MS)
  const first = createHarness(
    [
      async () => {
        const answered = dying.sleep(startsAfterMs)
        asked.resolve()
        await answered
        return delegate
      },
      calls(['hang']),
    ],
    { clock: dying, leaseMs: LEASE_MS },
  )
  await first.executor.execute(agent, 'Go', { sessionId: 's' })
  await asked.promise
  await dying.advance(startsAfterMs)
  await work.hung.promise
  await dying.advance(diesAfterMs - startsAfterMs)
  await settle()

  work.isHanging = false
  // The parent was renewed every third of its lease; the clock of a dead process stands still.
  const renewedMs = Math.floor(diesAfterMs / (LEASE_MS / 3)) * (LEASE_MS / 3)
  const clock = new ManualClock(START_MS + renewedMs + LEASE_MS)
  const next = first.next([say('child done'), say('All done.')], { clock })
  const handle = await next.executor.resume(agent, 's')
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'All done.' })
  const { messages } = await next.store.loadMessages('s')
  expect(messages[2]).toMatchObject({ role: 'tool', content: 'child done' })
})
