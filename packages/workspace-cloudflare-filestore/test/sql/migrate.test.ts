import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'
import { migrate, type Migrations } from '../../src/sql/migrate.ts'
import { version1 } from '../../src/sql/tables.ts'
import { Database } from '../../src/sql/database.ts'
import { countStatements } from '../counted-storage.ts'
import { inObject, openFiles } from '../objects.ts'
import { createProvider } from '../provider-harness.ts'

test('the tables are made once, and nothing else is touched', async () => {
  await inObject(async (storage) => {
    storage.sql.exec('CREATE TABLE own (x)')
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'kept')
    expect(await (await openFiles(storage)).readText?.('/a')).toBe('kept')
    const names = storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .toArray()
      .map((row) => row.name)
      .filter((name) => !name.startsWith('sqlite_') && !name.startsWith('_cf_'))
    expect(names.filter((name) => !name.startsWith('helix_fs_'))).toEqual(['own'])
    expect(storage.sql.exec('SELECT version FROM helix_fs_schema').toArray()).toEqual([
      { version: 1 },
    ])
  })
})

test('tables of a later release are left alone', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'kept')
    storage.sql.exec('INSERT INTO helix_fs_schema VALUES (2, 0)')
    await expect(openFiles(storage)).rejects.toMatchObject({ code: 'provider-failed' })
    await expect(createProvider(storage).collect()).rejects.toMatchObject({
      code: 'provider-failed',
    })
    expect(storage.sql.exec('SELECT * FROM helix_fs_nodes').toArray()).toHaveLength(1)
  })
})

test('tables that are up to date cost two statements to open', async () => {
  await inObject(async (storage) => {
    const counted = countStatements(storage)
    const provider = createProvider(counted.storage)
    provider.nextCollectionAt()
    counted.statements.length = 0
    provider.nextCollectionAt()
    expect(counted.statements.filter((it) => it.includes('helix_fs_schema'))).toHaveLength(2)
    expect(counted.statements).toHaveLength(3)
  })
})

/** Versions of their own, since this release has one. */
const LATER: Migrations = [
  version1,
  ['ALTER TABLE helix_fs_namespaces ADD COLUMN label TEXT'],
  ['CREATE TABLE helix_fs_extra (x)', "UPDATE helix_fs_namespaces SET label = 'migrated'"],
]

test('older tables get the versions that they lack, each in a transaction, and keep their files', async () => {
  await inObject(async (storage) => {
    const { sql } = storage
    await (await openFiles(storage)).writeFile('/a', 'kept')
    let left = 6
    const failing: FileStoreStorage = {
      sql: {
        exec: (statement, ...bindings) => {
          if ((left -= 1) < 0) throw new Error('the object is gone')
          return sql.exec(statement, ...bindings)
        },
      },
      transactionSync: (work) => storage.transactionSync(work),
    }
    const versions = (): unknown[] =>
      sql.exec('SELECT version, applied_ms FROM helix_fs_schema').toArray().slice(1)
    // Cut short by the last statement of the last version.
    expect(() => migrate(new Database(failing), 5, LATER)).toThrow('database of the file store')
    expect(versions()).toEqual([{ version: 2, applied_ms: 5 }])
    expect(sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'helix_fs_extra'").toArray()).toEqual(
      [],
    )
    migrate(new Database(storage), 6, LATER)
    expect(versions()).toEqual([
      { version: 2, applied_ms: 5 },
      { version: 3, applied_ms: 6 },
    ])
    expect(sql.exec('SELECT label FROM helix_fs_namespaces').toArray()).toEqual([
      { label: 'migrated' },
    ])
    const nodes = sql.exec("SELECT name FROM helix_fs_nodes WHERE name = 'a'").toArray()
    expect(nodes).toHaveLength(1)
  })
})
