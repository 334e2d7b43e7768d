// How much a large ledger is read: by what the database plans to do and by the rows that come back,
// not by time.
import { Fleet, migrateFleet, SqlFleetStore } from '@helix-agents/sandbox-fleet'
import type { SqlDatabase, SqlRow, SqlStatements, SqlValue } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { ManualClock } from '@helix-agents/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FakeDriver } from '../fleet-harness.ts'
import { fillDatabase, NOW } from './large-ledger.ts'

const RECORDS = 20_000

interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  readonly rows: number
}

let database: SqliteDatabase
let store: SqlFleetStore
const statements: Statement[] = []

beforeAll(async () => {
  database = await SqliteDatabase.open(':memory:')
  await migrateFleet(database)
  await fillDatabase(database, RECORDS)
  store = new SqlFleetStore(recording(database))
}, 120_000)
beforeEach(() => void statements.splice(0))
afterAll(() => database.close())

const note = (text: string, values: readonly SqlValue[], rows: readonly SqlRow[]) => {
  statements.push({ text, values, rows: rows.length })
  return rows
}

const record = (sql: SqlStatements): SqlStatements => ({
  run: (text, ...values) => {
    sql.run(text, ...values)
    note(text, values, [])
  },
  get: (text, ...values) => note(text, values, sql.all(text, ...values))[0],
  all: (text, ...values) => note(text, values, sql.all(text, ...values)),
})

function recording(inner: SqlDatabase): SqlDatabase {
  return {
    read: (work) => inner.read((sql) => work(record(sql))),
    write: (work) => inner.write((sql) => work(record(sql))),
    onForeignWrite: (listener) => inner.onForeignWrite(listener),
  }
}

/** What the database does for the statements so far: none may walk through the whole table. */
async function plans(): Promise<readonly string[]> {
  const found = [...statements]
  return database.read((sql) =>
    found.flatMap(({ text, values }) =>
      sql.all(`EXPLAIN QUERY PLAN ${text}`, ...values).map(({ detail }) => String(detail)),
    ),
  )
}

async function recordPlans(): Promise<readonly string[]> {
  return (await plans()).filter((plan) => plan.includes('fleet_sandboxes'))
}

const rowsRead = (): number => statements.reduce((sum, { rows }) => sum + rows, 0)

describe(`a ledger of ${RECORDS} records`, () => {
  test('stats read the kept counts', async () => {
    const clock = new ManualClock(NOW)
    const fleet = new Fleet({ store, drivers: [], environment: 'production', clock })
    expect(await fleet.stats()).toMatchObject({
      active: 600,
      totalCreated: RECORDS,
      totalDestroyed: RECORDS - 600,
    })
    expect(rowsRead()).toBeLessThan(20)
    // While no cleanup has ended, the oldest record: one row, found by its key.
    const plan = 'SEARCH helix_fleet_sandboxes USING INTEGER PRIMARY KEY (rowid>?)'
    expect(await recordPlans()).toEqual([plan])
    await store.writeState('heartbeat:production', { cleanupAt: NOW })
    statements.length = 0
    await fleet.stats()
    expect(await recordPlans()).toEqual([])
  })

  test.each([
    ['running', { status: 'running' }, 'helix_fleet_by_status'],
    ['several statuses', { status: ['running', 'failed', 'terminating'] }, 'helix_fleet_by_status'],
    ['a session', { sessionId: 'session-1' }, 'helix_fleet_by_session'],
    ['a task, running', { taskId: 'task-1', status: 'running' }, 'helix_fleet_by_task'],
    ['running of an agent', { agentType: 'agent-1', status: 'running' }, 'helix_fleet_by_status'],
    ['gone of an agent', { agentType: 'agent-1', status: 'terminated' }, 'helix_fleet_by_agent'],
    ['a tenant', { tenant: 'tenant-3' }, 'helix_fleet_by_tenant'],
  ] as const)('a list of %s uses its index', async (_, query, index) => {
    const page = await store.list({ environment: 'production', ...query })
    expect(page.records.length).toBeGreaterThan(0)
    expect(rowsRead()).toBeLessThanOrEqual(53)
    const found = await plans()
    expect(found.every((plan) => plan.includes(index))).toBe(true)
  })

  test('a list without a filter reads one page', async () => {
    await store.list({ limit: 50 })
    expect(rowsRead()).toBe(51)
    expect((await plans()).filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([])
  })

  test('a pass reads what is due, a bounded number, and never the rest', async () => {
    const clock = new ManualClock(NOW)
    const driver = new FakeDriver()
    Object.defineProperty(driver, 'provider', { value: 'local-bash' })
    const fleet = new Fleet({ store, drivers: [driver], environment: 'production', clock })
    const report = await fleet.cleanup({ dryRun: true })
    // One of each hundred is idle: the held ones are not even read.
    expect(report).toMatchObject({ examined: RECORDS / 100, found: RECORDS / 100, spared: {} })
    expect(rowsRead()).toBeLessThanOrEqual(RECORDS / 100 + 5)
    expect((await plans()).filter((plan) => !plan.includes('helix_fleet_by_attention'))).toEqual([])
    const bounded = new Fleet({
      store,
      drivers: [driver],
      environment: 'production',
      clock,
      policy: { maxExaminedPerPass: 100 },
    })
    expect(await bounded.cleanup({ dryRun: true })).toMatchObject({
      outcome: 'more',
      examined: 100,
    })
  })
})
