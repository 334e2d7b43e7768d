import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fleetStoreBehaviours } from '../store/fleet-store-behaviours.ts'
import { codeOf, newRecord, started } from '../store/store-samples.ts'

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'helix-fleet-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'fleet.sqlite')
}

describe('SqlFleetStore on node:sqlite', () => {
  test.each(fleetStoreBehaviours)('$id', async ({ run }) => {
    const { close, store } = await openSqliteFleetStore(':memory:')
    try {
      await expect(run(store)).resolves.toBeUndefined()
    } finally {
      await close()
    }
  })

  test('is there when it is opened again, also beside another process', async () => {
    const file = temporaryFile()
    const first = await openSqliteFleetStore(file)
    const second = await openSqliteFleetStore(file)
    await first.store.create(newRecord('a'))
    await second.store.update(started(newRecord('a')))
    expect(await codeOf(first.store.update(started(newRecord('a'))))).toBe('conflict')
    await first.close()
    expect(await codeOf(first.store.get('a'))).toBe('unavailable')
    await second.close()
    const third = await openSqliteFleetStore(file)
    expect(await third.store.get('a')).toMatchObject({ status: 'running', version: 2 })
    await third.close()
  })

  test('a damaged record is named, and the others are not affected', async () => {
    const file = temporaryFile()
    const { close, store } = await openSqliteFleetStore(file)
    for (const id of ['a', 'b', 'c']) await store.create(newRecord(id))
    const database = await SqliteDatabase.open(file)
    await database.write((sql) => {
      sql.run("UPDATE helix_fleet_sandboxes SET body = '{}' WHERE id = 'b'")
    })
    await database.close()
    expect(await codeOf(store.get('b'))).toBe('corrupt')
    const page = await store.list()
    expect(page.records.map(({ id }) => id)).toEqual(['c', 'a'])
    expect(page.unreadable).toBe(1)
    await close()
  })

  test('refuses a ledger of a newer release', async () => {
    const file = temporaryFile()
    await openSqliteFleetStore(file).then(({ close }) => close())
    const database = await SqliteDatabase.open(file)
    await database.write((sql) => sql.run('INSERT INTO helix_fleet_schema (version) VALUES (99)'))
    await database.close()
    expect(await codeOf(openSqliteFleetStore(file))).toBe('schema-version')
    expect(await codeOf(openSqliteFleetStore(file, { readOnly: true }))).toBe('schema-version')
  })
})

describe('a ledger that cannot be opened', () => {
  const readOnly = { readOnly: true }

  test('a file that is no database is corrupt, and left as it is', async () => {
    const file = temporaryFile()
    writeFileSync(file, 'not a database, but long enough to be looked at\n'.repeat(100))
    expect(await codeOf(openSqliteFleetStore(file))).toBe('corrupt')
    expect(await codeOf(openSqliteFleetStore(file, readOnly))).toBe('corrupt')
    expect(readFileSync(file, 'utf8')).toMatch(/^not a database/)
  })

  test('a missing file that is only read, and a directory, are unavailable', async () => {
    const file = temporaryFile()
    expect(await codeOf(openSqliteFleetStore(file, readOnly))).toBe('unavailable')
    expect(await codeOf(openSqliteFleetStore(dirname(file)))).toBe('unavailable')
    expect(await codeOf(openSqliteFleetStore(join('/dev/null', 'fleet.db')))).toBe('unavailable')
  })

  test('one that another process locks is unavailable, and open again after it', async () => {
    const file = temporaryFile()
    await openSqliteFleetStore(file).then(({ close }) => close())
    const other = new DatabaseSync(file)
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const failed = openSqliteFleetStore(file, { busyTimeoutMs: 10 })
    expect(await codeOf(failed)).toBe('unavailable')
    other.exec('ROLLBACK')
    other.close()
    await openSqliteFleetStore(file).then(({ close }) => close())
  })

  test('a database without a ledger that is only read keeps having none', async () => {
    const file = temporaryFile()
    const database = await SqliteDatabase.open(file)
    await database.close()
    expect(await codeOf(openSqliteFleetStore(file, readOnly))).toBe('schema-version')
  })

  test.each([
    ['a path that is none', () => openSqliteFleetStore(''), TypeError],
    [
      'an option that is none',
      () => openSqliteFleetStore(':memory:', { busyTimeoutMs: -1 }),
      RangeError,
    ],
  ])('%s is a mistake of the program', async (_, open, type) => {
    await expect(open()).rejects.toBeInstanceOf(type)
  })
})
