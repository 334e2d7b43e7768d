// Pages of many sessions, with each filter and at each place of the list, in PostgreSQL and in SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type SessionQuery, type SessionStateStore, toCursor } from '@helix-agents/core/runtime'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { Client } from 'pg'
import { type Measurement, median } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'

const SESSIONS = 100_000
const MOST_PAGE_MS = 10
const SAMPLES = 40

/** What a list is filtered by; of some nothing matches, or only what is old. */
const queries: Readonly<Record<string, SessionQuery>> = {
  all: {},
  'agentType of half': { agentType: 'half' },
  'agentType of 1 %': { agentType: 'rare' },
  'status of 90 %': { status: 'completed' },
  'status of 1 %': { status: 'failed' },
  'idPrefix of all': { idPrefix: 't' },
  'idPrefix of 5 %': { idPrefix: 't7 ' },
  'idPrefix of the oldest 1 %': { idPrefix: 'told ' },
  'agentType and status of 45 %': { agentType: 'half', status: 'completed' },
  'agentType and status of none': { agentType: 'half', status: 'running' },
  'all three': { agentType: 'other', status: 'completed', idPrefix: 't7 ' },
  'all three, of the oldest': { agentType: 'other', status: 'completed', idPrefix: 'told ' },
}

/** The first, the middle and the last page of all sessions. */
const places: readonly (Pick<SessionQuery, 'cursor'> & { readonly name: string })[] = [
  { name: 'first' },
  { name: 'middle', cursor: toCursor(SESSIONS / 2) },
  { name: 'last', cursor: toCursor(52) },
]

export async function run(): Promise<Verdict[]> {
  return [await ofPostgres(), await ofSqlite()]
}

async function ofPostgres(): Promise<Verdict> {
  await using server = await startTestPostgres({ durable: true })
  await using database = await server.createDatabase()
  const { stateStore, close } = await openPostgresStores(database.url)
  await stateStore.createSession({ sessionId: 'first', agentType: 'a', customState: 1, now: 1 })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'helix_sessions'",
  )
  const names = rows.map(({ name }) => name)
  await client.query(insertOf(names, `generate_series(2, ${SESSIONS}) AS n`))
  await client.query(STATES)
  // As autovacuum does, soon after so many.
  await client.query('VACUUM ANALYZE')
  await client.end()
  const verdict = await pages('postgres', stateStore)
  await close()
  return verdict
}

async function ofSqlite(): Promise<Verdict> {
  const directory = mkdtempSync(join(tmpdir(), 'helix-bench-listing-'))
  try {
    const path = join(directory, 'sessions.db')
    const { stateStore, close } = await openSqliteStores(path)
    await stateStore.createSession({ sessionId: 'first', agentType: 'a', customState: 1, now: 1 })
    const raw = new DatabaseSync(path)
    const columns = raw.prepare("SELECT name FROM pragma_table_info('helix_sessions')").all()
    const series = `(WITH RECURSIVE s (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM s WHERE n < ${SESSIONS}) SELECT n FROM s)`
    raw.exec(
      insertOf(
        columns.map(({ name }) => String(name)),
        series,
      ),
    )
    raw.exec(STATES)
    raw.close()
    const verdict = await pages('sqlite', stateStore)
    await close()
    return verdict
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Copies of the first session. */
function insertOf(columns: readonly string[], series: string): string {
  const values: Readonly<Record<string, string>> = {
    id: 'n',
    session_id: `CASE WHEN n <= ${SESSIONS / 100} THEN 'told ' ELSE 't' || (n % 20) || ' ' END || n`,
    agent_type: "CASE WHEN n % 100 = 0 THEN 'rare' WHEN n % 2 = 0 THEN 'half' ELSE 'other' END",
    // Those that run are of the other agent.
    status:
      "CASE WHEN n % 100 = 1 THEN 'failed' WHEN n % 100 IN (3, 5, 7, 9, 11, 13, 15, 17, 19)" +
      " THEN 'running' ELSE 'completed' END",
  }
  const selected = columns.map((name) => values[name] ?? name)
  return (
    `INSERT INTO helix_sessions (${columns.join(', ')}) SELECT ${selected.join(', ')}` +
    ` FROM helix_sessions, ${series}`
  )
}

const STATES =
  'INSERT INTO helix_states (session, version, value) SELECT n.id, s.version, s.value' +
  ' FROM helix_sessions n, helix_states s WHERE n.id <> s.session'

async function pages(name: string, store: SessionStateStore): Promise<Verdict> {
  const measurements: Measurement[] = []
  for (const [filter, query] of Object.entries(queries)) {
    for (const { name: place, ...at } of places) {
      const microseconds = await page(store, { ...query, ...at })
      measurements.push({ name: `${filter}, ${place}`, microseconds })
    }
  }
  const worst = Math.max(...measurements.map(({ microseconds }) => microseconds))
  return report({
    title: `listing: a page of ${SESSIONS} sessions in store-${name}, the slowest of these`,
    ours: `store-${name}`,
    limit: 'goal',
    measurements: [
      { name: 'goal', microseconds: MOST_PAGE_MS * 1000 },
      ...measurements,
      { name: `store-${name}`, microseconds: worst },
    ],
    gate: { most: 1 },
    unit: 'ms',
  })
}

/** The median, in microseconds. */
async function page(store: SessionStateStore, query: SessionQuery): Promise<number> {
  const times: number[] = []
  for (let sample = 0; sample < SAMPLES; sample++) {
    const startedAt = performance.now()
    await store.listSessions(query)
    times.push(performance.now() - startedAt)
  }
  return median(times) * 1000
}
