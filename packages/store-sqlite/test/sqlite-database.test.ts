import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { SqlError } from '@helix-agents/store-sql'
import { openSqliteStores, SqliteDatabase } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { begun, NOW, opened, textsOf, user } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function database(path: string, clock?: ManualClock): Promise<SqliteDatabase> {
  const made = await SqliteDatabase.open(path, clock && { clock })
  onTestFinished(() => made.close())
  return made
}

const pragma = (of: SqliteDatabase, name: string): Promise<unknown> =>
  of.read((sql) => sql.get(`PRAGMA ${name}`)?.[name])

const insert = (into: SqliteDatabase): Promise<void> =>
  into.write((sql) => sql.run('INSERT INTO t VALUES (1)'))

test('makes its file and the directories above it for the user only', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'a', 'b', 'sessions.db')
  const { stateStore } = await opened(path)
  await begun(stateStore, 's')
  expect(readdirSync(join(directory, 'a', 'b')).toSorted()).toEqual(
    ['', '-shm', '-wal'].map((end) => `sessions.db${end}`),
  )
  for (const end of ['', '-shm', '-wal']) expect(statSync(path + end).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o700)
})

test('a path is never taken for a URL', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'file:x?mode=memory')
  const stores = await openSqliteStores(path)
  await stores.close()
  expect(existsSync(path)).toBe(true)
})

test('a directory is no database', async () => {
  const path = join(temporaryDirectory(), 'folder')
  mkdirSync(path)
  await expect(openSqliteStores(path)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(openSqliteStores(join(path, 'a\0b'))).rejects.toMatchObject({ code: 'unavailable' })
})

test('an error of opening names the file, and says what to do', async () => {
  const directory = temporaryDirectory()
  const missing = join(directory, 'missing.db')
  await expect(openSqliteStores(missing, { readOnly: true })).rejects.toMatchObject({
    code: 'unavailable',
    message: `${missing}: there is no such file`,
    hint: expect.stringContaining('Check the path'),
  })
  const text = join(directory, 'text.db')
  writeFileSync(text, 'this is a text, and long enough to be taken for a header\n'.repeat(20))
  await expect(openSqliteStores(text)).rejects.toMatchObject({
    code: 'corrupt',
    message: `${text}: it is no SQLite database, or is damaged`,
    cause: { message: 'file is not a database' },
  })
  const below = join(text, 'below.db')
  await expect(openSqliteStores(below)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(below),
  })
})

test.each([[undefined], [''], [null]])('refuses %j as a path', async (path) => {
  await expect(openSqliteStores(path as never)).rejects.toThrow(
    /^database path must be a string, got (undefined|an empty string|null)$/,
  )
})

test('a link to a file is followed', async () => {
  const directory = temporaryDirectory()
  const first = await openSqliteStores(join(directory, 'real.db'))
  await begun(first.stateStore, 's')
  await first.close()
  symlinkSync('real.db', join(directory, 'link.db'))
  const second = await opened(join(directory, 'link.db'))
  expect((await second.stateStore.loadSession('s'))?.status).toBe('running')
})

test('closing moves the log into the file, and may be repeated', async () => {
  const directory = temporaryDirectory()
  const stores = await openSqliteStores(join(directory, 'x.db'))
  await begun(stores.stateStore, 's')
  await stores.close()
  await stores.close()
  expect(readdirSync(directory)).toEqual(['x.db'])
  await expect(stores.stateStore.loadSession('s')).rejects.toMatchObject({
    code: 'unavailable',
    cause: { kind: 'closed' },
  })
})

test('uses the log, and the durability that was asked for', async () => {
  const path = join(temporaryDirectory(), 'x.db')
  const normal = await database(path)
  expect(await pragma(normal, 'journal_mode')).toBe('wal')
  expect(await pragma(normal, 'synchronous')).toBe(1)
  const full = await SqliteDatabase.open(path, { synchronous: 'full' })
  expect(await pragma(full, 'synchronous')).toBe(2)
  await full.close()
})

test('options that cannot be used are refused', async () => {
  for (const busyTimeoutMs of [-1, Number.NaN]) {
    await expect(SqliteDatabase.open(':memory:', { busyTimeoutMs })).rejects.toThrow(RangeError)
  }
  const synchronous = 'off; DROP TABLE x' as 'full'
  await expect(SqliteDatabase.open(':memory:', { synchronous })).rejects.toThrow(RangeError)
})

test('an error of the work undoes its writes, and is passed on as it is', async () => {
  const db = await database(':memory:')
  await db.write((sql) => sql.run('CREATE TABLE t (n INTEGER) STRICT'))
  const error = new Error('mine')
  const failing = db.write((sql) => {
    sql.run('INSERT INTO t VALUES (1)')
    throw error
  })
  await expect(failing).rejects.toBe(error)
  await expect(db.write((sql) => sql.run('INSERT INTO nowhere VALUES (1)'))).rejects.toMatchObject({
    name: 'SqlError',
    kind: 'failed',
  })
  expect(await db.read((sql) => sql.all('SELECT n FROM t'))).toEqual([])
})

test('a statement that fails may be caught within its transaction', async () => {
  const db = await database(':memory:')
  await db.write((sql) => {
    sql.run('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT')
    sql.run('INSERT INTO t VALUES (1)')
    expect(() => sql.run('INSERT INTO t VALUES (1)')).toThrow(SqlError)
  })
  expect(await db.read((sql) => sql.all('SELECT n FROM t'))).toHaveLength(1)
})

test('what another connection writes is noticed as long as somebody listens', async () => {
  const path = join(temporaryDirectory(), 'x.db')
  const clock = new ManualClock()
  const reader = await database(path, clock)
  const writer = await database(path)
  await writer.write((sql) => sql.run('CREATE TABLE t (n INTEGER) STRICT'))

  let heard = 0
  expect(clock.pendingTimers).toBe(0)
  const stop = reader.onForeignWrite(() => heard++)
  const stopOther = reader.onForeignWrite(() => heard++)
  expect(clock.pendingTimers).toBe(1)
  await insert(reader)
  await clock.advance(500)
  expect(heard).toBe(0)
  await insert(writer)
  await clock.advance(100)
  expect(heard).toBe(2)
  await clock.advance(500)
  expect(heard).toBe(2)
  stopOther()
  stopOther()
  await insert(writer)
  await clock.advance(100)
  expect(heard).toBe(3)
  stop()
  expect(clock.pendingTimers).toBe(0)
  await insert(writer)
  await clock.advance(100)
  expect(heard).toBe(3)
})

test('a listener that stops listening while it is called ends the timer', async () => {
  const path = join(temporaryDirectory(), 'x.db')
  const clock = new ManualClock()
  const reader = await database(path, clock)
  const writer = await database(path)
  const stop = reader.onForeignWrite(() => stop())
  await writer.write((sql) => sql.run('CREATE TABLE t (n INTEGER) STRICT'))
  await clock.advance(100)
  expect(clock.pendingTimers).toBe(0)
  reader.onForeignWrite(() => {})
  await reader.close()
  expect(clock.pendingTimers).toBe(0)
})

test('two stores of one process share a file', async () => {
  const path = join(temporaryDirectory(), 'x.db')
  const one = (await opened(path)).stateStore
  const two = (await opened(path)).stateStore
  const write = await begun(one, 's')
  const start = { sessionId: 's', runId: 'other', leaseMs: 1, now: NOW }
  await expect(two.beginRun(start)).rejects.toMatchObject({ code: 'already-running' })
  const texts = Array.from({ length: 20 }, (_, index) => `${index}`)
  await Promise.all(
    texts.map((text, index) =>
      (index % 2 === 0 ? one : two).appendMessages({ ...write, messages: [user(text)] }),
    ),
  )
  expect(await textsOf(two, 's')).toEqual(texts)
})

test('a database in memory ends with its connection', async () => {
  const first = await openSqliteStores(':memory:')
  await begun(first.stateStore, 's')
  await first.close()
  const second = await opened(':memory:')
  expect(await second.stateStore.loadSession('s')).toBeNull()
  expect(existsSync(':memory:')).toBe(false)
})
