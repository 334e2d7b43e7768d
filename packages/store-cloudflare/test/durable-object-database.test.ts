import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import type { SqlError } from '@helix-agents/store-sql'
import { expect, test, vi } from 'vitest'

const TABLE = 'CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)'
const ADD = 'INSERT INTO t (text) VALUES (?)'

function inObject<T>(
  work: (database: DurableObjectDatabase, storage: DurableObjectStorage) => Promise<T>,
): Promise<T> {
  const stub = env.STORE.getByName(crypto.randomUUID())
  return runInDurableObject(stub, async (_, { storage }) => {
    storage.sql.exec(TABLE)
    return work(DurableObjectDatabase.of(storage), storage)
  })
}

const count = (storage: DurableObjectStorage): unknown =>
  storage.sql.exec('SELECT count(*) AS n FROM t').one()['n']

test('an object has one database', () =>
  inObject(async (database, storage) => {
    expect(DurableObjectDatabase.of(storage)).toBe(database)
  }))

test('a transaction that throws leaves nothing', () =>
  inObject(async (database, storage) => {
    const failure = new Error('mine')
    const write = database.write((sql) => {
      sql.run(ADD, 'a')
      throw failure
    })
    await expect(write).rejects.toBe(failure)
    expect(count(storage)).toBe(0)
  }))

test('a statement that failed and was caught does not end its transaction', () =>
  inObject(async (database, storage) => {
    await database.write((sql) => {
      sql.run(ADD, 'a')
      expect(() => sql.run('INSERT INTO t (id) VALUES (1)')).toThrow(/UNIQUE/)
      sql.run(ADD, 'b')
    })
    expect(count(storage)).toBe(2)
  }))

test('statements that the object refuses are SqlErrors', () =>
  inObject(async (database) => {
    const refused = database.write((sql) => sql.run('BEGIN'))
    await expect(refused).rejects.toMatchObject({ name: 'SqlError', kind: 'failed' })
    const wrong = database.read((sql) => sql.get('SELECT nothing'))
    await expect(wrong).rejects.toMatchObject({ name: 'SqlError', kind: 'failed' })
  }))

test('an object that is full says so, at the begin and the end of a transaction too', () =>
  inObject(async (database, storage) => {
    const methods = Object.getPrototypeOf(storage) as DurableObjectStorage
    vi.spyOn(methods, 'transactionSync').mockImplementation(() => {
      throw new Error('database or disk is full: SQLITE_FULL')
    })
    const write = database.write((sql) => sql.run(ADD, 'a'))
    await expect(write).rejects.toMatchObject({ name: 'SqlError', kind: 'full' })
  }))

test.each([
  ['one unit less than the limit', 'x'.repeat(1_999_999), true],
  ['the limit', 'x'.repeat(2_000_000), true],
  ['one more', 'x'.repeat(2_000_001), false],
  ['the limit in bytes', '€'.repeat(666_666), true],
  ['more in bytes', '€'.repeat(666_667), false],
])('a row of %s', (_, text, isTaken) =>
  inObject(async (database, storage) => {
    const write = database.write((sql) => sql.run(ADD, text))
    const kind = await write.then(
      () => undefined,
      (error: SqlError) => error.kind,
    )
    expect(kind).toBe(isTaken ? undefined : 'failed')
    expect(count(storage)).toBe(isTaken ? 1 : 0)
  }),
)

test('a column of a type that is never stored is damage', () =>
  inObject(async (database, storage) => {
    storage.sql.exec('CREATE TABLE blobs (b BLOB)')
    storage.sql.exec('INSERT INTO blobs VALUES (?)', new Uint8Array(3).buffer)
    const read = database.read((sql) => sql.all('SELECT b FROM blobs'))
    await expect(read).rejects.toMatchObject({ kind: 'corrupt' })
  }))
