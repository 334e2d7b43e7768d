// The migration mechanism, on versions of its own: this release has one.
import type { SqlDatabase, SqlRow } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import {
  applyMigrations,
  type Migrations,
  SCHEMA_VERSION,
  serverMigrations,
} from '../src/schema.ts'
import { openDatabase } from './node-database.ts'

const NOW = 1_700_000_000_000
const first = ['CREATE TABLE notes (text TEXT)', "INSERT INTO notes VALUES ('kept')"]
const second = ['ALTER TABLE notes ADD COLUMN author TEXT']
const older: Migrations = [first]
const newer: Migrations = [first, second]

const rowsOf = (database: SqlDatabase, table: string): Promise<readonly SqlRow[]> =>
  database.read((sql) => sql.all(`SELECT * FROM ${table}`).map((row) => ({ ...row })))

const versionsOf = async (database: SqlDatabase): Promise<unknown[]> =>
  (await rowsOf(database, 'helix_schema')).map((row) => [row['version'], row['applied_at']])

test('an older database gets the versions that it lacks, and keeps its rows', async () => {
  const database = openDatabase()
  await applyMigrations(database, older, { now: NOW })
  await applyMigrations(database, newer, { now: NOW + 1 })
  await applyMigrations(database, newer, { now: NOW + 2 })
  expect(await versionsOf(database)).toEqual([
    [1, NOW],
    [2, NOW + 1],
  ])
  expect(await rowsOf(database, 'notes')).toEqual([{ text: 'kept', author: null }])
})

test('a second list has versions of its own', async () => {
  const database = openDatabase()
  await applyMigrations(database, newer, { now: NOW })
  const other: Migrations = [['CREATE TABLE other (text TEXT)']]
  const versionTable = 'helix_snapshot_schema'
  await applyMigrations(database, other, { now: NOW + 1, versionTable })
  await applyMigrations(database, other, { now: NOW + 2, versionTable, readOnly: true })
  expect(await versionsOf(database)).toHaveLength(2)
  const [row] = await rowsOf(database, versionTable)
  expect(row).toEqual({ version: 1, applied_at: NOW + 1 })
})

test('a migrated database has the tables of a new one', async () => {
  const [migrated, made] = [openDatabase(), openDatabase()]
  await applyMigrations(migrated, older, { now: NOW })
  await applyMigrations(migrated, newer, { now: NOW })
  await applyMigrations(made, newer, { now: NOW })
  expect(await rowsOf(migrated, 'sqlite_master')).toEqual(await rowsOf(made, 'sqlite_master'))
})

test('a migration that fails leaves the version before', async () => {
  const database = openDatabase()
  await applyMigrations(database, older, { now: NOW })
  const broken = [first, [...second, 'CREATE TABLE notes (again TEXT)']]
  await expect(applyMigrations(database, broken, { now: NOW })).rejects.toThrow('already exists')
  expect(await versionsOf(database)).toEqual([[1, NOW]])
  expect(await rowsOf(database, 'notes')).toEqual([{ text: 'kept' }])
})

test('an older database is not migrated by a reader, a newer one by nobody', async () => {
  const database = openDatabase()
  await applyMigrations(database, older, { now: NOW })
  const reading = applyMigrations(database, newer, { now: NOW, readOnly: true })
  await expect(reading).rejects.toMatchObject({
    code: 'schema-version',
    sessionId: '',
    message: expect.stringContaining('must be opened for writing once'),
    hint: 'Start the application with this release: it brings the database up to date.',
  })
  await applyMigrations(database, newer, { now: NOW })
  await expect(applyMigrations(database, older, { now: NOW })).rejects.toMatchObject({
    code: 'schema-version',
    sessionId: '',
    message: expect.stringContaining('schema version 2, and this release reads up to 1'),
    hint: 'Run the release that created it, or a later one.',
  })
  expect(await versionsOf(database)).toHaveLength(2)
})

test('a database without tables is no database of ours to a reader', async () => {
  const reading = applyMigrations(openDatabase(), older, { now: NOW, readOnly: true })
  await expect(reading).rejects.toMatchObject({
    code: 'schema-version',
    sessionId: '',
    message: expect.stringContaining('the database has no tables of Helix'),
    hint: 'Check that it is the right one. Opening it for writing creates them.',
  })
})

test('a database of a later release that only adds is used as it is', async () => {
  const database = openDatabase()
  const adding: Migrations = [first, { adds: second }, { adds: ['CREATE TABLE tags (tag TEXT)'] }]
  await applyMigrations(database, adding, { now: NOW })
  await applyMigrations(database, older, { now: NOW })
  await applyMigrations(database, older, { now: NOW, readOnly: true })
  expect(await versionsOf(database)).toHaveLength(3)
  const changing: Migrations = [...adding, ['ALTER TABLE notes DROP COLUMN text']]
  await applyMigrations(database, changing, { now: NOW })
  await expect(applyMigrations(database, older, { now: NOW })).rejects.toMatchObject({
    code: 'schema-version',
  })
  await expect(applyMigrations(database, adding, { now: NOW })).rejects.toMatchObject({
    code: 'schema-version',
  })
})

test('a server gets the same versions, without what only SQLite needs', () => {
  expect(serverMigrations.length).toBe(SCHEMA_VERSION)
  const statements = serverMigrations.flatMap((one) => ('adds' in one ? one.adds : one))
  expect(statements.filter((one) => !/^CREATE (TABLE|INDEX) helix_/.test(one))).toEqual([])
  const names = statements.map((one) => one.split(/[ (]/)[2])
  expect(names).toEqual(
    expect.arrayContaining(['helix_sessions', 'helix_requests', 'helix_streams', 'helix_released']),
  )
  expect(names).not.toContain('helix_texts')
  expect(serverMigrations.map((one) => 'adds' in one)).toEqual([false, false, true])
})
