// What transactions lock on a server, where others run beside them: on a real database, whose locks are recorded.
import type { SqlDatabase, SqlServerStatements, SqlStatements } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { beforeEach, expect, test, onTestFinished } from 'vitest'
import { migrateFleet } from '../../src/sql/fleet-schema.ts'
import { SqlFleetStore } from '../../src/sql/sql-fleet-store.ts'
import { newRecord, NOW, started } from '../store/store-samples.ts'

let locks: string[]
let store: SqlFleetStore

beforeEach(async () => {
  locks = []
  const database = await SqliteDatabase.open(':memory:')
  onTestFinished(() => database.close())
  await migrateFleet(database)
  store = new SqlFleetStore(recording(database, locks))
})

/** The database, with the locks that a server would take. */
function recording(database: SqlDatabase, taken: string[]): SqlDatabase {
  const server: SqlServerStatements = {
    lock: (statement, ...values) => {
      const kind = statement.includes('FOR UPDATE')
        ? 'record'
        : statement.includes('_shared(')
          ? 'shared'
          : 'exclusive'
      taken.push(`${kind} ${values.join()}`)
    },
    now: () => undefined,
    together: (works) => works.map((work) => work()),
    notify: () => {},
  }
  const withServer = (sql: SqlStatements): SqlStatements => ({
    run: (...call) => sql.run(...call),
    get: (...call) => sql.get(...call),
    all: (...call) => sql.all(...call),
    server,
  })
  return {
    read: (work) => database.read((sql) => work(withServer(sql))),
    write: (work) => database.write((sql) => work(withServer(sql))),
    onForeignWrite: (listener) => database.onForeignWrite(listener),
  }
}

test('one that is made waits for the others that are made, and for whoever has its record', async () => {
  await store.create(newRecord('a'), { maxActive: 1 })
  expect(locks).toEqual(['exclusive create', 'record a'])
})

test('a change waits for whoever has the record', async () => {
  await store.create(newRecord('a'))
  locks.length = 0
  await store.update(started(newRecord('a')))
  expect(locks).toEqual(['record a'])
})

test('a change of a sweeper shares its lease with the others it makes at once', async () => {
  await store.create(newRecord('a'))
  const lease = { name: 'sweep', holder: 'me', ttlMs: 1000, now: NOW }
  const token = (await store.acquireLease(lease)) ?? 0
  locks.length = 0
  await store.update(started(newRecord('a')), { fence: { name: 'sweep', token } })
  expect(locks).toEqual(['shared lease sweep', 'record a'])
})

test('a lease is taken and given back by one at a time', async () => {
  const token = await store.acquireLease({ name: 'sweep', holder: 'me', ttlMs: 1000, now: NOW })
  expect(locks).toEqual(['exclusive lease sweep'])
  await store.releaseLease({ name: 'sweep', token: token ?? 0 })
  expect(locks).toEqual(['exclusive lease sweep', 'exclusive lease sweep'])
})

test('what is only read locks nothing', async () => {
  await store.get('a')
  await store.list()
  await store.due({ environment: 'test', until: NOW, limit: 1 })
  await store.counts()
  await store.usageSince(NOW)
  await store.readState('a')
  expect(locks).toEqual([])
})
