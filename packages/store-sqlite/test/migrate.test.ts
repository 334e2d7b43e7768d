import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { migrate, SCHEMA_VERSION } from '@helix-agents/store-sql'
import { openSqliteStores, SqliteDatabase } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { RecordingDatabase } from './recording-database.ts'
import { begun, NOW, opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('a new database gets every version once, with its time', async () => {
  const database = await SqliteDatabase.open(':memory:')
  onTestFinished(() => database.close())
  await migrate(database, { now: NOW })
  await migrate(database, { now: NOW + 1 })
  const rows = await database.read((sql) => sql.all('SELECT * FROM helix_schema'))
  const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1)
  expect(rows.map((row) => [row['version'], row['applied_at']])).toEqual(
    versions.map((version) => [version, NOW]),
  )
})

test('a database of this version is only read', async () => {
  const database = await SqliteDatabase.open(':memory:')
  onTestFinished(() => database.close())
  await migrate(database, { now: NOW })
  const recording = new RecordingDatabase(database)
  await migrate(recording, { now: NOW })
  const statements = recording.take().map((one) => one.statement.slice(0, 6))
  expect(new Set(statements)).toEqual(new Set(['SELECT']))
})

test('a database of a newer release is refused and left as it is', async () => {
  const path = join(temporaryDirectory(), 'newer.db')
  const stores = await openSqliteStores(path)
  await begun(stores.stateStore, 's')
  await stores.close()
  const database = new DatabaseSync(path)
  database.prepare('INSERT INTO helix_schema VALUES (?, ?)').run(SCHEMA_VERSION + 1, NOW)
  database.close()
  const before = readFileSync(path)
  for (const readOnly of [false, true]) {
    await expect(openSqliteStores(path, { readOnly })).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'schema-version',
      transient: false,
    })
  }
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a database without our tables is not changed by a reader', async () => {
  const path = join(temporaryDirectory(), 'foreign.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE mine (n INTEGER); INSERT INTO mine VALUES (7)')
  database.close()
  const before = readFileSync(path)
  await expect(openSqliteStores(path, { readOnly: true })).rejects.toMatchObject({
    code: 'schema-version',
  })
  expect(readFileSync(path).equals(before)).toBe(true)
  const { stateStore } = await opened(path)
  await begun(stateStore, 's')
  const after = new DatabaseSync(path)
  expect(after.prepare('SELECT n FROM mine').get()).toMatchObject({ n: 7 })
  after.close()
})

test('a migration that fails leaves nothing', async () => {
  const path = join(temporaryDirectory(), 'half.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE helix_messages (other TEXT)')
  database.close()
  await expect(openSqliteStores(path)).rejects.toMatchObject({ code: 'unavailable' })
  const after = new DatabaseSync(path)
  const tables = after.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  expect(tables.map((row) => row['name'])).toEqual(['helix_messages'])
  after.close()
})
