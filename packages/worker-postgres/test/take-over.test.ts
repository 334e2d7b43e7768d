import type { Agent } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { takeOver } from '../src/take-over.ts'
import { type Cluster, createCluster, hold, model, statusOf } from './harness.ts'

const quick = { pollMs: 50, heartbeatMs: 50, searchMs: 300 }
const LEASE_MS = 300

/** Lets a worker of a machine, which says nothing more, count as living for so long. */
async function ghost({ url }: Cluster, machine: string, livesMs: number): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(
    `INSERT INTO helix_queue.helix_worker
      (worker_id, machine, pid, state, sessions, concurrency, takeovers, seen_at, lost_after_ms)
    VALUES ($1, $1, 1, 'running', '[]', 4, 0, now(), $2)
    ON CONFLICT (worker_id) DO UPDATE SET seen_at = now(), lost_after_ms = $2`,
    [machine, livesMs],
  )
  await client.end()
}

/** A session as a killed worker leaves it in the middle of a run. */
async function leave({ store }: Cluster, agent: Agent, sessionId: string): Promise<void> {
  const run = { sessionId, runId: 'dead', now: Date.now() }
  await store.createSession({ ...run, agentType: agent.name, customState: undefined })
  await store.beginRun({ ...run, leaseMs: LEASE_MS })
  await store.appendMessages({ ...run, messages: [{ role: 'user', content: sessionId }] })
}

/** A session that waits for a person. */
async function ask(cluster: Cluster, agent: Agent, sessionId: string): Promise<void> {
  await leave(cluster, agent, sessionId)
  const run = { sessionId, runId: 'dead', now: Date.now() }
  await cluster.store.endRun({ ...run, status: 'waiting' })
}

/** A session that was left while its process shut down, and for which no turn stands. */
async function pause(cluster: Cluster, agent: Agent, sessionId: string): Promise<void> {
  await leave(cluster, agent, sessionId)
  const error = { code: 'shutdown', message: 'the process was shut down' }
  const run = { sessionId, runId: 'dead', now: Date.now() }
  await cluster.store.endRun({ ...run, status: 'interrupted', error })
}

test('a run that was killed is left to its machine, which is back', async () => {
  await using cluster = await createCluster()
  const { queue, local, agent } = cluster
  await queue.sessionHomes.save({ sessionId: 's', machine: 'm1', isMovable: false })
  await ghost(cluster, 'm1', 3_600_000)
  await leave(cluster, local, 's')
  const other = await cluster.worker({ ...quick, machine: 'm2', affinityWaitMs: 1 })
  // Each of these is found by a search later than the lease of `s`.
  for (const [count, sessionId] of ['t1', 't2'].entries()) {
    await leave(cluster, agent, sessionId)
    await expect.poll(() => other.health().takeovers).toBe(count + 1)
  }
  expect(await statusOf(cluster, 's')).toBe('running')
  const back = await cluster.worker({ ...quick, machine: 'm1' })
  await expect.poll(() => statusOf(cluster, 's')).toBe('completed')
  expect([back.health().takeovers, other.health().takeovers]).toEqual([1, 2])
  expect(cluster.effects.toSorted()).toEqual(['s', 't1', 't2'])
})

test('with a history another machine takes it after a while', async () => {
  await using cluster = await createCluster()
  const { queue, movable } = cluster
  await queue.sessionHomes.save({ sessionId: 's', machine: 'm1', isMovable: true })
  await ghost(cluster, 'm1', 3_600_000)
  await leave(cluster, movable, 's')
  const other = await cluster.worker({ ...quick, machine: 'm2', affinityWaitMs: 200 })
  await expect.poll(() => statusOf(cluster, 's')).toBe('completed')
  expect(other.health().takeovers).toBe(1)
})

test('what a machine has left that does not come back is taken once it counts as gone', async () => {
  await using cluster = await createCluster()
  const { queue, local } = cluster
  for (const sessionId of ['killed', 'paused']) {
    await queue.sessionHomes.save({ sessionId, machine: 'm1', isMovable: false })
  }
  await leave(cluster, local, 'killed')
  await pause(cluster, local, 'paused')
  await ghost(cluster, 'm1', 2000)
  // No search but the one that is due then.
  await cluster.worker({ ...quick, machine: 'm2', searchMs: 60_000 })
  for (const sessionId of ['killed', 'paused']) {
    await expect.poll(() => statusOf(cluster, sessionId), { timeout: 10_000 }).toBe('completed')
  }
  expect(cluster.effects.toSorted()).toEqual(['killed', 'paused'])
})

test('paused sessions stay with their machine while it says that it lives', async () => {
  await using cluster = await createCluster()
  const { queue, local, agent } = cluster
  await queue.sessionHomes.save({ sessionId: 's', machine: 'm1', isMovable: false })
  await pause(cluster, local, 's')
  await ghost(cluster, 'm1', 3_600_000)
  const other = await cluster.worker({ ...quick, machine: 'm2' })
  await leave(cluster, agent, 't')
  await expect.poll(() => other.health().takeovers).toBe(1)
  expect(await statusOf(cluster, 's')).toBe('interrupted')
  const back = await cluster.worker({ ...quick, machine: 'm1' })
  await expect.poll(() => statusOf(cluster, 's')).toBe('completed')
  expect([back.health().takeovers, other.health().takeovers]).toEqual([1, 1])
})

test('a worker that is full takes the other paused sessions later', async () => {
  await using cluster = await createCluster()
  const sessions = ['s1', 's2', 's3']
  const gates = sessions.map((sessionId) => hold(cluster, sessionId))
  for (const sessionId of sessions) await pause(cluster, cluster.agent, sessionId)
  const worker = await cluster.worker({ ...quick, concurrency: 1 })
  await expect.poll(() => cluster.effects).toHaveLength(1)
  for (const { open } of gates) open()
  await expect.poll(() => cluster.effects.toSorted(), { timeout: 10_000 }).toEqual(sessions)
  await expect.poll(() => worker.health().sessions).toEqual([])
})

test('a session that has lost its lease here is looked at again at once', async () => {
  await using cluster = await createCluster()
  const { agent, store, logger } = cluster
  await leave(cluster, agent, 's')
  const now = Date.now() + LEASE_MS
  const parts = {
    executor: new JSAgentExecutor(store, new InMemoryStreamManager(), model),
    stateStore: store,
    agents: [agent],
    logger,
    now: () => now,
    reserve: () => undefined,
    elsewhere: () => Promise.resolve(new Map()),
    isOwn: () => true,
    onTaken: () => {},
  }
  expect(await takeOver(parts, ['running'])).toMatchObject({ next: now, isFull: false })
})

test('sessions that wait for people are looked at once, however many there are', async () => {
  await using cluster = await createCluster()
  const { queue, agent, local, store } = cluster
  await ghost(cluster, 'm1', 1)
  for (const sessionId of ['w1', 'w2', 'w3']) await ask(cluster, agent, sessionId)
  await ask(cluster, local, 'w4')
  await queue.sessionHomes.save({ sessionId: 'w4', machine: 'm1', isMovable: false })
  const list = vi.spyOn(store, 'listSessions')
  const worker = await cluster.worker({ ...quick, concurrency: 1 })
  for (const [count, sessionId] of ['t1', 't2', 't3'].entries()) {
    await leave(cluster, agent, sessionId)
    await expect.poll(() => worker.health().takeovers).toBe(count + 1)
  }
  const asked = list.mock.calls.filter(([query]) => query?.status === 'waiting')
  // For each of the agents.
  expect(asked).toHaveLength(3)
})

test('a session stays with the machine that runs its first turn', async () => {
  await using cluster = await createCluster()
  const { queue, local, movable, agent } = cluster
  const gates = ['fixed', 'movable', 'free'].map((name) => hold(cluster, name))
  const worker = await cluster.worker({ ...quick, machine: 'm1' })
  await queue.enqueue(local, 'fixed', { sessionId: 'fixed' })
  await queue.enqueue(movable, 'movable', { sessionId: 'movable' })
  await queue.enqueue(agent, 'free', { sessionId: 'free' })
  await expect.poll(() => cluster.effects).toHaveLength(3)
  await expect
    .poll(() => queue.homes(['fixed', 'movable', 'free']))
    .toMatchObject([
      { sessionId: 'fixed', machine: 'm1', isMovable: false },
      { sessionId: 'movable', machine: 'm1', isMovable: true },
    ])
  for (const { open } of gates) open()
  await expect.poll(() => worker.health().finishedTurns).toBe(3)
})

test('a turn waits for the run of its session that was taken over, and its abort leaves that run', async () => {
  await using cluster = await createCluster()
  const { agent, queue, store, url } = cluster
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model, {
    turnQueue: queue,
  })
  const gate = hold(cluster, 's')
  await leave(cluster, agent, 's')
  const worker = await cluster.worker(quick)
  await expect.poll(() => cluster.effects).toEqual(['s'])
  const turn = { mode: 'enqueue', sessionId: 's' } as const
  const aborted = await executor.execute(agent, 'aborted', turn)
  const { turnId } = await queue.enqueue(agent, 'second', { sessionId: 's' })
  const client = new Client({ connectionString: url })
  await client.connect()
  // The first one was claimed, and put back.
  await expect
    .poll(async () => {
      const { rows } = await client.query<{ readonly count: number }>(
        'SELECT count(*)::integer FROM helix_queue.job WHERE start_after > created_on',
      )
      return rows[0]?.count
    })
    .toBe(1)
  await client.end()
  await aborted.abort()
  expect(await aborted.result()).toMatchObject({ status: 'aborted' })
  expect(await statusOf(cluster, 's')).toBe('running')
  expect(await queue.turnStatus(turnId)).not.toMatchObject({ state: 'ended' })
  expect(await store.listQueuedMessages('s')).toEqual([])
  gate.open()
  await expect.poll(() => cluster.effects, { timeout: 20_000 }).toEqual(['s', 'second'])
  await expect.poll(() => worker.health().finishedTurns).toBe(1)
})
