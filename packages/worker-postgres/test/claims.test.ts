import { TestSampler } from '@helix-agents/core/testing'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { openTurnQueue, type TurnQueue } from '@helix-agents/worker-postgres'
import fc from 'fast-check'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { claimOnce } from './claim.ts'

const sampler = new TestSampler()
const agent = { name: 'a' }
const MACHINES = ['m1', 'm2', "m3'; --"]
const SESSIONS = ['s1', 's2', 's3', 's4']

async function openQueue(): Promise<{ readonly queue: TurnQueue; readonly client: Client }> {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const queue = await openTurnQueue({ connectionString: database.url, listen: false })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await queue.close()
  })
  return { queue, client }
}

/** Lets a worker of the machine say that it runs, or drains, or has been silent for longer than its lease. */
async function setWorker(client: Client, machine: string, state: string): Promise<void> {
  const [name, silentMs] = state === 'silent' ? ['running', 61_000] : [state, 0]
  await client.query(
    `INSERT INTO helix_queue.helix_worker
      (worker_id, machine, pid, state, sessions, concurrency, takeovers, seen_at, lost_after_ms)
    VALUES ($1, $1, 1, $2, '[]', 4, 0, now() - $3 * interval '1 ms', 60000)
    ON CONFLICT (worker_id) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at`,
    [machine, name, silentMs],
  )
}

test('a claim looks at few rows, however many turns wait for other machines', async () => {
  const { queue, client } = await openQueue()
  for (const machine of MACHINES) await setWorker(client, machine, 'running')
  await client.query(
    `INSERT INTO helix_queue.helix_session_home (session_id, machine, movable)
    SELECT 's' || n, 'm' || n % 2 + 1, n % 3 = 0 FROM generate_series(1, 3000) n`,
  )
  const { turnId: free } = await queue.enqueue(agent, 'x', { sessionId: 's' })
  // All of them before it.
  await client.query(
    `INSERT INTO helix_queue.job (singleton_key, name, data, policy, created_on, heartbeat_seconds)
    SELECT 's' || n, name, data, policy, created_on - interval '1 minute', heartbeat_seconds
    FROM helix_queue.job, generate_series(1, 3000) n`,
  )
  let text = ''
  const waitMs = 3_600_000
  const claim = (machine: string) =>
    claimOnce(queue, { machine, waitMs, onText: (claimed) => (text = claimed) })
  expect(await claim('m3')).toEqual([free])
  const buffers = async () => {
    await client.query('BEGIN')
    const statement = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text.replaceAll(/\$\d+/g, '100')}`
    const { rows } = await client.query<{
      readonly 'QUERY PLAN': readonly [{ readonly Plan: Record<string, unknown> }]
    }>(statement)
    await client.query('ROLLBACK')
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    return Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks'])
  }
  // Without statistics, and with those of each moment.
  expect(await buffers()).toBeLessThan(200)
  await client.query('ANALYZE helix_queue.job')
  expect(await buffers()).toBeLessThan(200)
  expect(await claim('m1')).toHaveLength(1)
  expect(await buffers()).toBeLessThan(200)
})

test('a turn that is stored while its session gets a home waits for that machine', async () => {
  const { queue, client } = await openQueue()
  for (const at of ['m1', 'm2']) await setWorker(client, at, 'running')
  await client.query('BEGIN')
  await client.query(
    "INSERT INTO helix_queue.helix_session_home (session_id, machine, movable) VALUES ('s', 'm1', false)",
  )
  const { turnId } = await queue.enqueue(agent, 'x', { sessionId: 's' })
  await client.query('COMMIT')
  expect(await claimOnce(queue, { machine: 'm2', waitMs: 1 })).toEqual([])
  expect(await claimOnce(queue, { machine: 'm1', waitMs: 1 })).toEqual([turnId])
})

test('a session that moves takes along a turn that is being stored', async () => {
  const { queue, client } = await openQueue()
  for (const at of ['m1', 'm2']) await setWorker(client, at, 'running')
  const home = { sessionId: 's', isMovable: false }
  await queue.sessionHomes.save({ ...home, machine: 'm1' })
  await queue.enqueue(agent, 'x', { sessionId: 's' })
  await client.query('BEGIN')
  await client.query(
    `INSERT INTO helix_queue.job (singleton_key, name, data, policy)
    SELECT singleton_key, name, data, policy FROM helix_queue.job`,
  )
  const moved = queue.sessionHomes.save({ ...home, machine: 'm2' })
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1)
  await client.query('COMMIT')
  await moved
  expect(await claimOnce(queue, { machine: 'm1', waitMs: 1 })).toEqual([])
  for (let turn = 1; turn <= 2; turn++) {
    expect(await claimOnce(queue, { machine: 'm2', waitMs: 1 })).toHaveLength(1)
  }
})

test('of many turns a claim takes the first one of each session', async () => {
  const { queue } = await openQueue()
  const first: string[] = []
  for (let turn = 1; turn <= 12; turn++) {
    for (const sessionId of ['c', 'a', 'b']) {
      const { turnId } = await queue.enqueue(agent, 'x', { sessionId })
      if (turn === 1) first.push(turnId)
    }
  }
  const claimed = await claimOnce(queue, { machine: 'm1', waitMs: 1, room: 36 })
  expect(claimed.toSorted()).toEqual(first.toSorted())
})

test('a turn that was put back has not begun, and goes before those of its session', async () => {
  const { queue, client } = await openQueue()
  const claim = (end: End) => claimOnce(queue, { machine: 'm1', waitMs: 1, end })
  const turnIds: string[] = []
  for (let turn = 0; turn < 2; turn++) {
    turnIds.push((await queue.enqueue(agent, 'x', { sessionId: 's' })).turnId)
  }
  const [first, second] = turnIds
  expect(await claim('putBack')).toEqual([first])
  await client.query(
    "UPDATE helix_queue.job SET start_after = now() + interval '1 hour' WHERE id = $1",
    [first],
  )
  expect(await claim('putBack')).toEqual([])
  expect(await queue.cancelTurns('s', first)).toEqual({ cancelled: 1, begun: false, active: false })
  expect(await claim('failed')).toEqual([second])
  await client.query('UPDATE helix_queue.job SET start_after = now() WHERE id = $1', [second])
  expect(await claim('putBack')).toEqual([second])
  expect(await queue.cancelTurns('s')).toEqual({ cancelled: 1, begun: true, active: false })
})

type End = 'completed' | 'failed' | 'putBack'

type Command =
  | readonly ['enqueue', session: string, priority: number]
  | readonly ['home', session: string, machine: string, isMovable: boolean]
  | readonly ['leave', session: string]
  | readonly ['worker', machine: string, state: 'running' | 'draining' | 'silent' | 'gone']
  | readonly ['claim', machine: string, isPatient: boolean, end: End]
  /** What has failed may come again. */
  | readonly ['due']

const session = fc.constantFrom(...SESSIONS)
const machine = fc.constantFrom(...MACHINES)
const state = fc.constantFrom('running', 'draining', 'silent', 'gone' as const)
const anyEnd = fc.constantFrom('completed', 'failed', 'putBack')
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('enqueue'), session, fc.nat(1)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('home'), session, machine, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('leave'), session) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('worker'), machine, state) },
  { weight: 1, arbitrary: fc.constant(['due']) },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constant('claim'), machine, fc.boolean(), anyEnd),
  },
) as fc.Arbitrary<Command>

interface ModelTurn {
  readonly turnId: string
  readonly session: string
  readonly priority: number
  /** It was claimed, and comes again: later, or now. */
  comesAgain?: 'later' | 'now'
}

/** Who may claim what, from the rules alone. */
class Model {
  readonly turns: ModelTurn[] = []
  readonly homes = new Map<string, { readonly machine: string; readonly isMovable: boolean }>()
  readonly running = new Set<string>()

  next(at: string, isPatient: boolean): ModelTurn | undefined {
    return this.turns
      .filter((turn) => {
        const { session: id, comesAgain } = turn
        if (comesAgain === 'later') return false
        const begun = this.turns.some((other) => other.session === id && other.comesAgain)
        if (comesAgain === undefined && begun) return false
        const home = this.homes.get(id)
        if (home === undefined || home.machine === at) return true
        return !this.running.has(home.machine) || (home.isMovable && !isPatient)
      })
      .toSorted((a, b) => b.priority - a.priority)[0]
  }
}

class Run {
  /** What was claimed and what the model says, of the first claim in which they differ. */
  difference: readonly [claimed: readonly string[], expected: ModelTurn | undefined] | undefined
  readonly #model = new Model()
  readonly #queue: TurnQueue
  readonly #client: Client

  constructor(queue: TurnQueue, client: Client) {
    this.#queue = queue
    this.#client = client
  }

  async all(commands: readonly Command[]): Promise<void> {
    for (const next of commands) await this.#step(next)
    // What is left is claimed in the end: by its machine, or by any other.
    for (const at of MACHINES) await this.#setWorker(at, 'gone')
    this.#model.running.clear()
    await this.#setDue()
    while (this.#model.turns.length > 0 && this.difference === undefined) {
      await this.#claim('m1', true, 'completed')
    }
  }

  async #step(next: Command): Promise<void> {
    const { turns, homes, running } = this.#model
    if (next[0] === 'enqueue') {
      const [, sessionId, priority] = next
      const { turnId } = await this.#queue.enqueue(agent, 'x', { sessionId, priority })
      turns.push({ turnId, session: sessionId, priority })
    } else if (next[0] === 'home') {
      const [, sessionId, at, isMovable] = next
      await this.#queue.sessionHomes.save({ sessionId, machine: at, isMovable })
      homes.set(sessionId, { machine: at, isMovable })
    } else if (next[0] === 'leave') {
      await this.#queue.sessionHomes.remove(next[1])
      homes.delete(next[1])
    } else if (next[0] === 'worker') {
      await this.#setWorker(next[1], next[2])
      if (next[2] === 'running') running.add(next[1])
      else running.delete(next[1])
    } else if (next[0] === 'due') await this.#setDue()
    else await this.#claim(next[1], next[2], next[3])
  }

  async #claim(at: string, isPatient: boolean, end: End): Promise<void> {
    const { turns } = this.#model
    const expected = this.#model.next(at, isPatient)
    // A turn is claimed by another statement than the one that stored it, and so has waited.
    await this.#client.query(`SELECT pg_sleep(0.002)`)
    const claimed = await claimOnce(this.#queue, {
      machine: at,
      waitMs: isPatient ? 3_600_000 : 1,
      end,
    })
    if (claimed.join(' ') !== (expected?.turnId ?? '')) this.difference ??= [claimed, expected]
    if (expected === undefined) return
    if (end === 'completed') turns.splice(turns.indexOf(expected), 1)
    else {
      expected.comesAgain = 'later'
      await this.#client.query(
        "UPDATE helix_queue.job SET start_after = now() + interval '1 hour' WHERE id = $1",
        [expected.turnId],
      )
    }
  }

  async #setDue(): Promise<void> {
    await this.#client.query('UPDATE helix_queue.job SET start_after = created_on')
    for (const turn of this.#model.turns) if (turn.comesAgain) turn.comesAgain = 'now'
  }

  async #setWorker(at: string, to: string): Promise<void> {
    if (to !== 'gone') return setWorker(this.#client, at, to)
    await this.#client.query('DELETE FROM helix_queue.helix_worker WHERE machine = $1', [at])
  }
}

test('each claim takes the first turn that its machine may have, and none starves', async () => {
  const { queue, client } = await openQueue()
  const tables = ['job', 'helix_session_home', 'helix_worker'].map((name) => `helix_queue.${name}`)
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 40 }), async (commands) => {
      // Not TRUNCATE: its lock of whole tables can deadlock with the supervision of the queue.
      for (const table of tables) await client.query(`DELETE FROM ${table}`)
      const run = new Run(queue, client)
      await run.all(commands)
      expect(run.difference).toBeUndefined()
    }),
    { numRuns: sampler.size(300, 25), seed: sampler.seedOf('claims'), endOnFailure: true },
  )
}, 90_000)
