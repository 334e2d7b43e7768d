import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  })
})
