import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openTurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { createCluster, hold, statusOf } from './harness.ts'

test('a turn makes its session and runs once, however often it is enqueued', async () => {
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const turn = await queue.enqueue(agent, 'one', { userId: 'u', tags: ['t'] })
  const again = { sessionId: turn.sessionId, turnId: turn.turnId }
  expect(await queue.enqueue(agent, 'one', again)).toEqual(turn)
  expect(await queue.stats()).toMatchObject({ ready: 1, delayed: 0, active: 0 })
  await cluster.worker()
  await expect.poll(() => statusOf(cluster, turn.sessionId)).toBe('completed')
  expect(await store.loadSession(turn.sessionId)).toMatchObject({ userId: 'u', tags: ['t'] })
  expect(cluster.effects).toEqual(['one'])
  await expect.poll(() => queue.stats()).toMatchObject({ ready: 0, active: 0, oldestReadyMs: 0 })
})

test('turns of one session run one after the other; those of others beside them', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const gate = hold(cluster, 'first')
  const sessionId = 's'
  await queue.enqueue(agent, 'first', { sessionId })
  await queue.enqueue(agent, 'second', { sessionId })
  await queue.enqueue(agent, 'other')
  await cluster.worker()
  await expect.poll(() => cluster.effects.toSorted()).toEqual(['first', 'other'])
  gate.open()
  await expect.poll(() => cluster.effects).toHaveLength(3)
  expect(cluster.effects.at(-1)).toBe('second')
})

test('a tenant with many turns leaves room for the others', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const mine = ['a1', 'a2', 'a3', 'a4']
  const gates = mine.map((name) => hold(cluster, name))
  for (const name of mine) await queue.enqueue(agent, name, { tenant: 'a' })
  await queue.enqueue(agent, 'b1', { tenant: 'b' })
  // Room is filled at once, and not by the next poll.
  const limits = { turnsPerTenant: 2, pollMs: 60_000 }
  await Promise.all([cluster.worker(limits), cluster.worker(limits)])
  await expect.poll(() => cluster.effects.includes('b1')).toBe(true)
  await expect.poll(() => queue.stats()).toMatchObject({ ready: 2, active: 2 })
  for (const { open } of gates) open()
  await expect.poll(() => cluster.effects.toSorted()).toEqual([...mine, 'b1'])
  expect(cluster.most()).toBeLessThanOrEqual(3)
})

test('claims at the same moment come one after the other, so that a limit holds on all machines', async () => {
  await using cluster = await createCluster()
  const { queue, agent, url } = cluster
  const mine = ['a1', 'a2', 'a3', 'a4']
  const gates = mine.map((name) => hold(cluster, name))
  for (const name of mine) await queue.enqueue(agent, name, { tenant: 'a' })
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('SELECT pg_advisory_lock(4711000019)')
  const limits = { turnsPerTenant: 2, pollMs: 60_000 }
  await Promise.all([cluster.worker(limits), cluster.worker(limits)])
  const waiting = async (): Promise<number | null> =>
    (await client.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
      .rowCount
  await expect.poll(waiting).toBe(2)
  expect(cluster.effects).toEqual([])
  // Both claim now.
  await client.end()
  await expect.poll(() => cluster.effects).toHaveLength(2)
  expect(await queue.stats()).toMatchObject({ ready: 2, active: 2 })
  for (const { open } of gates) open()
  await expect.poll(() => cluster.effects.toSorted()).toEqual(mine)
  expect(cluster.most()).toBe(2)
})

test('a higher priority starts first; a delayed turn not before its time', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const startAfter = new Date(Date.now() + 1500)
  await queue.enqueue(agent, 'late', { startAfter, priority: 9 })
  await queue.enqueue(agent, 'low')
  await queue.enqueue(agent, 'high', { priority: 1 })
  expect(await queue.stats()).toMatchObject({ ready: 2, delayed: 1 })
  await cluster.worker({ concurrency: 1 })
  await expect.poll(() => cluster.effects).toEqual(['high', 'low', 'late'])
  expect(Date.now()).toBeGreaterThanOrEqual(startAfter.getTime())
})

test('a worker that drains hands its turn over: every effect once', async () => {
  const shutdown = vi.spyOn(JSAgentExecutor.prototype, 'shutdown')
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const gate = hold(cluster, 'one')
  const { sessionId } = await queue.enqueue(agent, 'one')
  const first = await cluster.worker({ machine: 'm1' })
  await expect.poll(() => cluster.effects).toEqual(['one'])
  expect(first.health()).toMatchObject({ state: 'running', sessions: [sessionId], machine: 'm1' })
  const stopped = first.stop()
  await expect.poll(() => queue.workers()).toMatchObject([{ state: 'draining', machine: 'm1' }])
  // From then on its run stops behind the tool.
  await expect.poll(() => shutdown.mock.calls).toHaveLength(1)
  gate.open()
  await stopped
  expect(first.health()).toMatchObject({ state: 'stopped', handedOverTurns: 1, finishedTurns: 0 })
  expect(await queue.workers()).toEqual([])
  expect(await statusOf(cluster, sessionId)).toBe('interrupted')
  await cluster.worker()
  await expect.poll(() => statusOf(cluster, sessionId)).toBe('completed')
  expect(cluster.effects).toEqual(['one'])
  expect(await store.listRuns(sessionId)).toHaveLength(2)
})

test('the session of a dead machine is taken over once its lease has expired, and handed on', async () => {
  await using cluster = await createCluster()
  const { store, agent } = cluster
  const leaseMs = 300
  const run = { sessionId: 's', runId: 'dead', now: Date.now() }
  await store.createSession({ ...run, agentType: agent.name, customState: undefined })
  await store.beginRun({ ...run, leaseMs })
  await store.appendMessages({ ...run, messages: [{ role: 'user', content: 'one' }] })
  const gate = hold(cluster, 'one')
  const worker = await cluster.worker()
  expect(worker.health().takeovers).toBe(0)
  await expect.poll(() => cluster.effects, { interval: 5 }).toEqual(['one'])
  expect(Date.now() - run.now).toBeGreaterThanOrEqual(leaseMs)
  expect(worker.health()).toMatchObject({ takeovers: 1, sessions: ['s'] })
  const stopped = worker.stop()
  gate.open()
  await stopped
  await cluster.worker()
  await expect.poll(() => statusOf(cluster, 's')).toBe('completed')
  expect(cluster.effects).toEqual(['one'])
})

test('a turn that cannot start is rejected once; one of an unknown agent waits for its worker', async () => {
  await using cluster = await createCluster()
  const { queue, agent, store } = cluster
  const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
  await store.createSession({ sessionId: 's', agentType: 'b', customState: undefined, now: 1 })
  await queue.enqueue(agent, 'not mine', { sessionId: 's' })
  await queue.enqueue(other, 'unknown')
  const worker = await cluster.worker()
  await expect.poll(() => worker.health().rejectedTurns).toBe(1)
  await expect.poll(() => queue.stats()).toMatchObject({ active: 0, delayed: 1 })
  expect(cluster.effects).toEqual([])
})

test('health and metrics name the depth of the queue, the age of its oldest turn and takeovers', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const gate = hold(cluster, 'one')
  const clock = new ManualClock()
  const options = { concurrency: 1, machine: 'm "1"', heartbeatMs: 1000, clock }
  const worker = await cluster.worker({ ...options, searchMs: 1_000_000 })
  expect(worker.health().queue).toMatchObject({ ready: 0, active: 0, oldestReadyMs: 0, ageMs: 0 })
  await queue.enqueue(agent, 'one')
  await expect.poll(() => cluster.effects).toEqual(['one'])
  await queue.enqueue(agent, 'two')
  await queue.enqueue(agent, 'later', { startAfter: new Date(Date.now() + 3_600_000) })
  const before = worker.health().queue
  await clock.advance(29_000)
  // Counted rarely; its age says so.
  expect(worker.health().queue).toEqual({ ...before, ageMs: 29_000 })
  const afterBeat = async () => {
    await clock.advance(1000)
    return worker.health().queue
  }
  await expect.poll(afterBeat).toMatchObject({ ready: 1, delayed: 1, active: 1 })
  expect(worker.health().queue?.oldestReadyMs).toBeGreaterThan(0)
  const lines = worker.metrics().split('\n')
  const labels = String.raw`{machine="m \"1\""}`
  expect(lines.some((line) => line.startsWith('helix_queue_age_seconds{'))).toBe(true)
  for (const [name, value] of [
    ['helix_machine_sessions', 0],
    ['helix_worker_sessions', 1],
    ['helix_worker_concurrency', 1],
    ['helix_worker_finished_turns_total', 0],
    ['helix_worker_rejected_turns_total', 0],
    ['helix_worker_handed_over_turns_total', 0],
    ['helix_worker_takeovers_total', 0],
    ['helix_queue_ready_turns', 1],
    ['helix_queue_delayed_turns', 1],
    ['helix_queue_active_turns', 1],
  ] as const) {
    expect(lines).toContain(`${name}${labels} ${value}`)
  }
  expect(worker.health().claimMs).toBeGreaterThan(0)
  expect(lines.some((line) => line.startsWith(`helix_worker_claim_seconds${labels} 0.`))).toBe(true)
  const oldest = lines.find((line) => line.startsWith('helix_queue_oldest_ready_seconds{'))
  expect(Number(oldest?.split(' ').at(-1))).toBeGreaterThan(0)
  gate.open()
})

test('without NOTIFY, as behind a pooler, a worker polls', async () => {
  await using cluster = await createCluster()
  const { agent, url } = cluster
  const options = { connectionString: url, listen: false, maxConnections: 2 }
  await using queue = await openTurnQueue(options)
  const clock = new ManualClock()
  await using worker = await cluster.worker({ queue, clock, pollMs: 700, searchMs: 60_000 })
  const { sessionId } = await queue.enqueue(agent, 'polled')
  const afterPolls = async (): Promise<string | undefined> => {
    await clock.advance(700)
    return statusOf(cluster, sessionId)
  }
  await expect.poll(afterPolls).toBe('completed')
  await expect.poll(() => worker.health().finishedTurns).toBe(1)
})
