import { expect, test } from 'vitest'
import { Client } from 'pg'
import { type Cluster, createCluster, hold, statusOf } from './harness.ts'

const quick = { pollMs: 50, heartbeatMs: 50 }

/** Runs the first turn of a session `s` on a machine `m1`; then there is an `m2` as well. */
async function placed(cluster: Cluster, options: { leaseMs?: number } = {}) {
  const { queue, local } = cluster
  const first = await cluster.worker({ ...quick, ...options, machine: 'm1' })
  await queue.enqueue(local, 'one', { sessionId: 's' })
  await expect.poll(() => first.health().finishedTurns).toBe(1)
  const second = await cluster.worker({ ...quick, ...options, machine: "m2'; --" })
  return { first, second }
}

test('a session stays with the machine of its files, and health says since when', async () => {
  await using cluster = await createCluster()
  const { queue, local, agent } = cluster
  const { first, second } = await placed(cluster)
  const [home] = await queue.homes(['s', 'none'])
  expect(home).toMatchObject({ sessionId: 's', machine: 'm1', isAlive: true, isMovable: false })
  expect(home?.since).toBeGreaterThan(0)
  for (let turn = 2; turn <= 6; turn++) {
    await queue.enqueue(local, `turn ${turn}`, { sessionId: 's' })
    await expect.poll(() => first.health().finishedTurns).toBe(turn)
  }
  expect(second.health().finishedTurns).toBe(0)
  expect(await queue.homes(['s'])).toEqual([home])
  const third = await cluster.worker({ machine: 'm1' })
  expect(third.health()).toMatchObject({ stayingSessions: 1 })
  expect(third.metrics()).toContain('helix_machine_sessions{machine="m1"} 1')
  // A session without files on a machine runs anywhere.
  const gate = hold(cluster, 'long')
  await queue.enqueue(agent, 'long', { sessionId: 'free' })
  gate.open()
  await expect.poll(() => statusOf(cluster, 'free')).toBe('completed')
  expect(await queue.homes(['free'])).toEqual([])
})

test('without a history a turn waits for its machine while that is full', async () => {
  await using cluster = await createCluster()
  const { queue, local, agent } = cluster
  const first = await cluster.worker({ ...quick, machine: 'm1', concurrency: 1 })
  await queue.enqueue(local, 'one', { sessionId: 's' })
  await expect.poll(() => first.health().finishedTurns).toBe(1)
  const gate = hold(cluster, 'long')
  await queue.enqueue(agent, 'long')
  await expect.poll(() => cluster.effects.includes('long')).toBe(true)
  const second = await cluster.worker({ ...quick, machine: 'm2', affinityWaitMs: 1 })
  const { turnId } = await queue.enqueue(local, 'two', { sessionId: 's' })
  // A turn behind it is claimed, so this one was passed over.
  const later = await queue.enqueue(agent, 'later')
  await expect.poll(() => statusOf(cluster, later.sessionId)).toBe('completed')
  expect(await queue.turnStatus(turnId)).toEqual({ state: 'queued' })
  gate.open()
  await expect.poll(() => first.health().finishedTurns).toBe(3)
  expect(second.health().finishedTurns).toBe(1)
  expect(cluster.effects.at(-1)).toBe('two')
})

test('a machine that drains hands its sessions over at once', async () => {
  await using cluster = await createCluster()
  const { queue, local } = cluster
  const { first, second } = await placed(cluster)
  const gate = hold(cluster, 'two')
  await queue.enqueue(local, 'two', { sessionId: 's' })
  await expect.poll(() => cluster.effects.at(-1)).toBe('two')
  await queue.enqueue(local, 'three', { sessionId: 's' })
  const stopped = first.stop()
  // From here on the other machine may take the session, and may have done so by now.
  await expect.poll(() => queue.homes(['s'])).not.toMatchObject([{ machine: 'm1', isAlive: true }])
  gate.open()
  await stopped
  // The message of a turn that waits may continue what the other one has left.
  await expect.poll(() => cluster.effects).toEqual(['one', 'two', 'three'])
  await expect.poll(() => statusOf(cluster, 's')).toBe('completed')
  await expect.poll(() => second.health().finishedTurns).toBeGreaterThan(0)
  expect(await queue.homes(['s'])).toMatchObject([{ machine: "m2'; --", isAlive: true }])
})

test('the turn of a machine that has fallen silent is taken once its lease is over, not before', async () => {
  await using cluster = await createCluster()
  const { queue, local, url } = cluster
  const { first, second } = await placed(cluster)
  const client = new Client({ connectionString: url })
  await client.connect()
  // As of a machine that says nothing any more: its row stands still.
  const { workerId } = first
  await first.stop()
  const silent = async (ms: number) => {
    await client.query(
      `INSERT INTO helix_queue.helix_worker
        (worker_id, machine, pid, state, sessions, concurrency, takeovers, seen_at, lost_after_ms)
      VALUES ($1, 'm1', 1, 'running', '[]', 4, 0, now() - $2 * interval '1 ms', 60000)
      ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at`,
      [workerId, ms],
    )
  }
  await silent(0)
  const { turnId } = await queue.enqueue(local, 'two', { sessionId: 's' })
  // A turn behind it is claimed, so this one was passed over.
  const later = await queue.enqueue(local, 'later')
  await expect.poll(() => statusOf(cluster, later.sessionId)).toBe('completed')
  expect(await queue.turnStatus(turnId)).toEqual({ state: 'queued' })
  await silent(60_000)
  await expect.poll(() => second.health().finishedTurns).toBe(2)
  expect(await queue.homes(['s'])).toMatchObject([{ machine: "m2'; --", isAlive: true }])
  await client.end()
})

test('with a history a turn waits for its machine only for a while', async () => {
  await using cluster = await createCluster()
  const { queue, movable, agent } = cluster
  const first = await cluster.worker({ ...quick, machine: 'm1', concurrency: 1 })
  await queue.enqueue(movable, 'one', { sessionId: 's' })
  await expect.poll(() => first.health().finishedTurns).toBe(1)
  expect(await queue.homes(['s'])).toMatchObject([{ isMovable: true }])
  const gate = hold(cluster, 'long')
  await queue.enqueue(agent, 'long')
  await expect.poll(() => cluster.effects.includes('long')).toBe(true)
  const patient = { ...quick, machine: 'm2', affinityWaitMs: 3_600_000 }
  const second = await cluster.worker(patient)
  const { turnId } = await queue.enqueue(movable, 'two', { sessionId: 's' })
  const later = await queue.enqueue(agent, 'later')
  await expect.poll(() => statusOf(cluster, later.sessionId)).toBe('completed')
  expect(await queue.turnStatus(turnId)).toEqual({ state: 'queued' })
  const third = await cluster.worker({ ...quick, machine: 'm3', affinityWaitMs: 1 })
  await expect.poll(() => third.health().finishedTurns).toBe(1)
  expect(second.health().finishedTurns).toBe(1)
  gate.open()
})

test('without kinds no session stays anywhere', async () => {
  await using cluster = await createCluster()
  const { queue, local } = cluster
  const worker = await cluster.worker({ ...quick, affinityKinds: [] })
  await queue.enqueue(local, 'one', { sessionId: 's' })
  await expect.poll(() => worker.health().finishedTurns).toBe(1)
  expect(await queue.homes(['s'])).toEqual([])
})
