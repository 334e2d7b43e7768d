import { createTestDatabase, type TestDatabase } from '@helix-agents/postgres-testbed'
import { Fleet, type FleetStore, migrateFleet, SqlFleetStore } from '@helix-agents/sandbox-fleet'
import {
  openPostgresFleetStore,
  type PostgresFleetStoreOptions,
} from '@helix-agents/sandbox-fleet/postgres'
import { ManualClock } from '@helix-agents/core/testing'
import { openPostgresDatabase, type PostgresDatabase } from '@helix-agents/store-postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FakeDriver } from '../fleet-harness.ts'
import { fillDatabase, NOW } from '../scale/large-ledger.ts'
import { fleetStoreBehaviours } from '../store/fleet-store-behaviours.ts'
import { addRunning, codeOf, newRecord, started } from '../store/store-samples.ts'

let database: TestDatabase
let admin: PostgresDatabase
let places = 0

beforeAll(async () => {
  database = await createTestDatabase()
  admin = await openRaw(database.url)
})
afterAll(async () => {
  await admin.close()
  await database.drop()
})

function openRaw(url: string): Promise<PostgresDatabase> {
  return openPostgresDatabase(
    url,
    { listen: false },
    { make: (raw) => raw, migrate: () => Promise.resolve() },
  )
}

/** The URL of an empty schema. */
async function emptyPlace(): Promise<string> {
  const name = `fleet_${++places}`
  await admin.write((sql) => sql.run(`CREATE SCHEMA ${name}`))
  const place = new URL(database.url)
  place.searchParams.set('options', `-c search_path=${name}`)
  return place.href.replaceAll('+', '%20')
}

async function opened(url: string, options?: PostgresFleetStoreOptions): Promise<FleetStore> {
  const { store, close } = await openPostgresFleetStore(url, options)
  onTestFinished(close)
  return store
}

describe('SqlFleetStore on PostgreSQL', () => {
  test.each(fleetStoreBehaviours)('$id', async ({ run }) => {
    await expect(run(await opened(await emptyPlace()))).resolves.toBeUndefined()
  })
})

describe('several processes', () => {
  test('start at once and make the tables once', async () => {
    const url = await emptyPlace()
    const stores = await Promise.all(Array.from({ length: 6 }, () => opened(url)))
    await stores[0]?.create(newRecord('a'))
    expect(await stores[5]?.get('a')).toEqual(newRecord('a'))
  })

  test('never admit more than allowed, nor one id twice', async () => {
    const url = await emptyPlace()
    const stores = await Promise.all(Array.from({ length: 4 }, () => opened(url)))
    const created = stores.flatMap((store, process) =>
      Array.from({ length: 6 }, (_, n) =>
        codeOf(store.create(newRecord(`a${process}-${n}`), { maxActive: 7 })),
      ),
    )
    const results = await Promise.all(created)
    expect(results.filter((result) => result === 'no error')).toHaveLength(7)
    const twice = stores.map((store, process) =>
      codeOf(store.create(newRecord('same', { environment: `e${process}` }))),
    )
    const codes = (await Promise.all(twice)).toSorted()
    expect(codes).toEqual(['already-exists', 'already-exists', 'already-exists', 'no error'])
  })

  test('one of them gets a lease, and writes of the holder before are rejected', async () => {
    const url = await emptyPlace()
    const stores = await Promise.all(Array.from({ length: 4 }, () => opened(url)))
    const [first, second] = stores
    if (first === undefined || second === undefined) throw new Error('no stores')
    const request = { name: 'sweep', ttlMs: 1000, now: NOW }
    const tokens = await Promise.all(
      stores.map((store, n) => store.acquireLease({ ...request, holder: `h${n}` })),
    )
    expect(tokens.filter((token) => token !== undefined)).toEqual([1])
    const record = await addRunning(first, 'a')
    // The next holder takes the lease while the one before writes: the write is before it, or rejected.
    const next = { ...record, version: record.version + 1 }
    const [token, written] = await Promise.all([
      second.acquireLease({ ...request, holder: 'late', now: NOW + 5000 }),
      codeOf(first.update(next, { fence: { name: 'sweep', token: 1 } })),
    ])
    expect(token).toBe(2)
    expect(['no error', 'lease-lost']).toContain(written)
    const stale = first.update(next, { fence: { name: 'sweep', token: 1 } })
    expect(await codeOf(stale)).toBe('lease-lost')
  })

  test('their counts are right after changes at once', async () => {
    const url = await emptyPlace()
    const [first, second] = [await opened(url), await opened(url)]
    const ids = Array.from({ length: 15 }, (_, n) => `a${n}`)
    const storeOf = (n: number): FleetStore => (n % 2 === 0 ? first : second)
    await Promise.all(ids.map((id, n) => storeOf(n).create(newRecord(id))))
    await Promise.all(ids.map((id, n) => storeOf(n + 1).update(started(newRecord(id)))))
    await Promise.all(ids.map((_, n) => storeOf(n).addUsage({ executions: 1, timeouts: 0 }, NOW)))
    expect(await first.counts('test')).toMatchObject({ provisioning: 0, running: 15 })
    expect(await second.usageSince(NOW)).toEqual({ executions: 15, timeouts: 0 })
  })
})

test('the time of the ledger is that of the server, whatever the clock of the process says', async () => {
  const clock = new ManualClock(5)
  const store = await opened(await emptyPlace(), { clock })
  const before = Date.now()
  // Both run on one machine, with rounding.
  expect(await store.now?.()).toBeGreaterThanOrEqual(before - 1)
  expect(store.hasRightClocks).toBeUndefined()
})

describe('a ledger that cannot be opened', () => {
  test('is that of a newer release, or none that is only checked', async () => {
    const url = await emptyPlace()
    expect(await codeOf(openPostgresFleetStore(url, { checkOnly: true }))).toBe('schema-version')
    await opened(url)
    await opened(url, { checkOnly: true })
    const raw = await openRaw(url)
    onTestFinished(() => raw.close())
    await raw.write((sql) => sql.run('INSERT INTO helix_fleet_schema (version) VALUES (99)'))
    expect(await codeOf(openPostgresFleetStore(url))).toBe('schema-version')
  })

  test('has tables of another program, and is left as it is', async () => {
    const url = await emptyPlace()
    const raw = await openRaw(url)
    onTestFinished(() => raw.close())
    await raw.write((sql) => sql.run('CREATE TABLE helix_fleet_leases (text text)'))
    await expect(openPostgresFleetStore(url)).rejects.toMatchObject({
      name: 'FleetError',
      code: 'schema-version',
      message: expect.stringContaining('another program') as unknown,
      hint: expect.stringContaining('another schema') as unknown,
    })
    const made = "SELECT 1 WHERE to_regclass('helix_fleet_sandboxes') IS NOT NULL"
    expect(await raw.read((sql) => sql.get(made))).toBeUndefined()
  })

  test('is on a server without this database, or that nobody answers', async () => {
    const missing = new URL(database.url)
    missing.pathname = '/no_such_database'
    await expect(openPostgresFleetStore(missing.href)).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('CREATE DATABASE') as unknown,
    })
    const url = 'postgresql://127.0.0.1:1/x'
    const options = { connectTimeoutMs: 50, reconnectTimeoutMs: 1 }
    expect(await codeOf(openPostgresFleetStore(url, options))).toBe('unavailable')
    await expect(openPostgresFleetStore('')).rejects.toBeInstanceOf(TypeError)
    await expect(openPostgresFleetStore(url, { maxConnections: 0 })).rejects.toBeInstanceOf(
      RangeError,
    )
  })

  test('was closed', async () => {
    const { store, close } = await openPostgresFleetStore(await emptyPlace())
    await close()
    await close()
    expect(await codeOf(store.get('a'))).toBe('unavailable')
    expect(await codeOf(Promise.resolve(store.now?.()))).toBe('unavailable')
  })
})

test('a damaged record is named, and the others are not affected', async () => {
  const url = await emptyPlace()
  const store = await opened(url)
  for (const id of ['a', 'b', 'c']) await store.create(newRecord(id))
  const raw = await openRaw(url)
  onTestFinished(() => raw.close())
  await raw.write((sql) => sql.run("UPDATE helix_fleet_sandboxes SET body = '{}' WHERE id = 'b'"))
  expect(await codeOf(store.get('b'))).toBe('corrupt')
  expect(await store.list()).toMatchObject({ unreadable: 1 })
})

test('a large ledger is read by its indexes', async () => {
  const raw = await openRaw(await emptyPlace())
  onTestFinished(() => raw.close())
  await migrateFleet(raw)
  await fillDatabase(raw, 2000)
  await raw.write((sql) => sql.run('ANALYZE helix_fleet_sandboxes'))
  const texts: string[] = []
  const spied = new SqlFleetStore({
    read: (work) =>
      raw.read((sql) =>
        work({
          ...(sql.server && { server: sql.server }),
          run: sql.run.bind(sql),
          get: sql.get.bind(sql),
          all: (text, ...values) => {
            const plan = sql.all(`EXPLAIN ${text}`, ...values)
            texts.push(...plan.map((row) => String(row['QUERY PLAN'])))
            return sql.all(text, ...values)
          },
        }),
      ),
    write: (work) => raw.write(work),
    onForeignWrite: (listener) => raw.onForeignWrite(listener),
  })
  const environment = 'production'
  const queries = [
    { status: 'running' },
    { status: ['running', 'failed'] },
    { sessionId: 'session-1' },
    { taskId: 'task-1', status: 'running' },
    { agentType: 'agent-1', status: 'running' },
    {},
  ] as const
  for (const query of queries) await spied.list({ ...query, environment })
  await spied.due({ environment, until: NOW, limit: 100 })
  expect(texts.length).toBeGreaterThan(queries.length)
  expect(texts.filter((line) => line.includes('Seq Scan on helix_fleet_sandboxes'))).toEqual([])
  const driver = new FakeDriver()
  Object.defineProperty(driver, 'provider', { value: 'local-bash' })
  const clock = new ManualClock(NOW)
  const fleet = new Fleet({ store: spied, drivers: [driver], environment, clock })
  expect(await fleet.cleanup({ dryRun: true })).toMatchObject({ examined: 20, found: 20 })
})
