// Turns claimed from a long queue, against one row claimed by `pg` alone, on one server with `fsync`.
import { noopLogger, systemClock } from '@helix-agents/core'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { openTurnQueue, type TurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { type Measurement, median } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'

const QUEUED = 10_000
const TENANTS = 50
const CLAIMS = 300
const MOST_CLAIM_MS = 10
/** Where the server passes over every turn of a tenant. */
const MOST_CLAIM_BEHIND_MS = 20
const TURNS_PER_TENANT = 8

export async function run(): Promise<Verdict[]> {
  await using server = await startTestPostgres({ durable: true })
  await using database = await server.createDatabase()
  await using queue = await openTurnQueue({ connectionString: database.url })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await fill(client, queue, `'t' || n % ${TENANTS}`)
  const ours = await claims(queue)
  const raw = await rawClaims(client)
  // Thousands of turns of a tenant at its limit stand before the others.
  await fill(client, queue, `CASE WHEN n <= ${QUEUED} THEN 'large' ELSE 'small' END`)
  await client.query(
    "UPDATE helix_queue.job SET state = 'active' WHERE id IN" +
      ` (SELECT id FROM helix_queue.job WHERE group_id = 'large' LIMIT ${TURNS_PER_TENANT})`,
  )
  const behind = await claims(queue)
  await fill(client, queue, `'t' || n % ${TENANTS}`)
  await settleElsewhere(client)
  const elsewhere = await claims(queue)
  await client.end()
  const gate = { most: 1 }
  const base = { ours: 'worker-postgres', limit: 'goal', gate, unit: 'ms' } as const
  return [
    report({
      ...base,
      title: `queue: a turn claimed, ${QUEUED} queued`,
      measurements: [
        goal(MOST_CLAIM_MS),
        { name: 'worker-postgres', microseconds: ours },
        { name: 'pg, one row claimed', microseconds: raw },
      ],
    }),
    report({
      ...base,
      title: 'queue: a turn claimed behind those of a tenant at its limit',
      measurements: [goal(MOST_CLAIM_BEHIND_MS), { name: 'worker-postgres', microseconds: behind }],
    }),
    report({
      ...base,
      title: 'queue: a turn claimed behind those of sessions that stay with another machine',
      measurements: [goal(MOST_CLAIM_MS), { name: 'worker-postgres', microseconds: elsewhere }],
    }),
  ]
}

function goal(ms: number): Measurement {
  return { name: 'goal', microseconds: ms * 1000 }
}

/** Copies of one turn, by the server, in the order of `n`; `tenant` is SQL for that of turn `n`. */
async function fill(client: Client, queue: TurnQueue, tenant: string): Promise<void> {
  await client.query('TRUNCATE helix_queue.job CASCADE')
  await queue.enqueue({ name: 'a' }, 'Do it.', { tenant: 't', sessionId: 's' })
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'helix_queue'" +
      " AND table_name = 'job' AND column_name NOT IN ('id', 'singleton_key', 'group_id', 'created_on')",
  )
  const names = rows.map(({ name }) => name).join(', ')
  await client.query(
    `INSERT INTO helix_queue.job (singleton_key, group_id, created_on, ${names})` +
      ` SELECT 's' || n, ${tenant}, created_on + n * interval '1 us', ${names}` +
      ` FROM helix_queue.job, generate_series(1, ${QUEUED + 2 * CLAIMS}) n`,
  )
  // As autovacuum does, soon after so many.
  await client.query('ANALYZE helix_queue.job')
}

/** All but the last turns are of sessions that stay with a machine that lives. */
async function settleElsewhere(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO helix_queue.helix_worker VALUES
      ('w', 'full', 1, 'running', '[]', 1, 0, now() + interval '1 hour')`,
  )
  await client.query(
    `INSERT INTO helix_queue.helix_session_home (session_id, machine, movable)
      SELECT 's' || n, 'full', false FROM generate_series(1, ${QUEUED}) n`,
  )
  // As autovacuum does: the homes have changed every turn.
  await client.query('VACUUM ANALYZE helix_queue.job, helix_queue.helix_session_home')
}

/** The median of claims of one turn each, in microseconds. */
async function claims(queue: TurnQueue): Promise<number> {
  const times: number[] = []
  const done = Promise.withResolvers<void>()
  const stop = queue.consume({
    concurrency: 1,
    turnsPerTenant: TURNS_PER_TENANT,
    pollMs: 1000,
    clock: systemClock,
    logger: noopLogger,
    restrict: (claim) => queue.sessionHomes.restrict(claim, { machine: 'here', waitMs: 5000 }),
    run: async () => {
      if (times.length >= CLAIMS) done.resolve()
      return { outcome: 'completed' }
    },
    onClaim: (ms) => times.push(ms),
  })
  await done.promise
  await stop()
  return median(times) * 1000
}

async function rawClaims(client: Client): Promise<number> {
  await client.query(
    'CREATE TABLE raw_job AS SELECT id, data, state::text, created_on FROM helix_queue.job',
  )
  await client.query('CREATE INDEX ON raw_job (created_on) WHERE state = $$created$$')
  await client.query('CREATE INDEX ON raw_job (id)')
  const text =
    "UPDATE raw_job SET state = 'active' WHERE id = (SELECT id FROM raw_job" +
    " WHERE state = 'created' ORDER BY created_on LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING data"
  const times: number[] = []
  for (let claim = 0; claim < CLAIMS; claim++) {
    const startedAt = performance.now()
    await client.query({ name: 'claim', text })
    times.push(performance.now() - startedAt)
  }
  return median(times) * 1000
}
