import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createHarness, type Harness, say } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
const LEASE_MS = 1000

interface Left {
  readonly sessionId?: string
  readonly parentSessionId?: string
  readonly isHeard?: boolean
}

/** A session whose process died in the middle of a run. */
async function leave({ store }: Harness, clock: ManualClock, left: Left = {}): Promise<void> {
  const { sessionId = 's', isHeard = true, ...parent } = left
  const write = { sessionId, runId: `run of ${sessionId}`, now: clock.now() }
  await store.createSession({ ...write, ...parent, agentType: 'a', customState: undefined })
  await store.beginRun({ ...write, leaseMs: LEASE_MS })
  if (!isHeard) return
  await store.appendMessages({ ...write, messages: [{ role: 'user', content: 'hello' }] })
}

function subject(script = [say('hi')]) {
  const clock = new ManualClock()
  return { clock, harness: createHarness(script, { clock }) }
}

test('a session whose process died goes on as soon as its lease is out', async () => {
  const { clock, harness } = subject()
  await leave(harness, clock)
  const leaseUntil = clock.now() + LEASE_MS
  expect(await harness.executor.recover(agent, 's')).toEqual({ outcome: 'held', leaseUntil })
  expect(await harness.store.loadSession('s')).toMatchObject({ status: 'running', leaseUntil })
  await clock.advance(LEASE_MS)
  const recovery = await harness.executor.recover(agent, 's')
  if (recovery.outcome !== 'resumed') throw new Error(recovery.outcome)
  expect(await recovery.handle.result()).toMatchObject({ status: 'completed', output: 'hi' })
  const again = await harness.executor.recover(agent, 's')
  expect(again).toEqual({ outcome: 'not-needed', status: 'completed' })
})

test('two processes that try at once: one has it, the other is told until when', async () => {
  const { clock, harness } = subject()
  await leave(harness, clock)
  await clock.advance(LEASE_MS)
  const next = harness.next([say('hi')])
  const both = await Promise.all([
    harness.executor.recover(agent, 's'),
    next.executor.recover(agent, 's'),
  ])
  expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(['held', 'resumed'])
  for (const one of both) if (one.outcome === 'resumed') await one.handle.result()
  expect((await harness.store.listRuns('s')).length).toBe(2)
})

test('what a shutdown interrupted goes on, what a user paused stays', async () => {
  const { clock, harness } = subject()
  const pause = async (sessionId: string, code?: string): Promise<void> => {
    await leave(harness, clock, { sessionId })
    const error = code === undefined ? {} : { error: { code, message: '' } }
    const end = { sessionId, runId: `run of ${sessionId}`, now: clock.now() }
    await harness.store.endRun({ ...end, status: 'interrupted', ...error })
  }
  await pause('paused')
  await pause('shut down', 'shutdown')
  const paused = await harness.executor.recover(agent, 'paused')
  expect(paused).toEqual({ outcome: 'not-needed', status: 'interrupted' })
  expect((await harness.executor.recover(agent, 'shut down')).outcome).toBe('resumed')
})

test('a sub-agent goes on with its parent, and a run of this process by itself', async () => {
  const { clock, harness } = subject([() => new Promise<never>(() => {})] as never)
  await leave(harness, clock, { sessionId: 'child', parentSessionId: 'parent' })
  await clock.advance(LEASE_MS)
  const needless = { outcome: 'not-needed', status: 'running' }
  expect(await harness.executor.recover(agent, 'child')).toEqual(needless)
  const handle = await harness.executor.execute(agent, 'go', { sessionId: 'own' })
  await clock.advance(120_000)
  expect(await harness.executor.recover(agent, 'own')).toEqual(needless)
  await handle.abort()
  await handle.result()
})

test('what cannot go on is said', async () => {
  const { clock, harness } = subject()
  await leave(harness, clock)
  await leave(harness, clock, { sessionId: 'unheard', isHeard: false })
  await clock.advance(LEASE_MS)
  const { executor } = harness
  await expect(executor.recover(agent, 'none')).rejects.toMatchObject({ code: 'not-resumable' })
  await expect(executor.recover(other, 's')).rejects.toMatchObject({ code: 'other-agent' })
  await expect(executor.recover(agent, 'unheard')).rejects.toMatchObject({ code: 'not-resumable' })
})
