import { expect, test } from 'vitest'
import { asNewIsolate, countStatements, inObject, openFiles } from '../objects.ts'
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
      { version: 2 },
    ])
  })
})

test('tables of a later release are left alone', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'kept')
    storage.sql.exec('INSERT INTO helix_fs_schema VALUES (3, 0)')
    await expect(openFiles(storage)).rejects.toMatchObject({ code: 'provider-failed' })
    await expect(createProvider(storage).collect()).rejects.toMatchObject({
      code: 'provider-failed',
    })
    expect(storage.sql.exec('SELECT * FROM helix_fs_nodes').toArray()).toHaveLength(1)
  })
})

/** What the tables of earlier releases differ in. */
const EARLIER: Readonly<Record<string, readonly string[]>> = {
  'without views': ['DROP VIEW helix_fs_changes', 'DROP VIEW helix_fs_additions'],
  'with views of no version': [],
}

test.each(Object.entries(EARLIER))(
  'tables of version 1, %s, are brought up to date',
  async (_, changes) => {
    await inObject(async (storage) => {
      const before = await openFiles(storage)
      await before.writeFile('/a', 'kept')
      for (const statement of changes) storage.sql.exec(statement)
      storage.sql.exec('DELETE FROM helix_fs_schema WHERE version = 2')
      const counted = countStatements(asNewIsolate(storage))
      const fs = await openFiles(counted.storage)
      expect(await fs.readText?.('/a')).toBe('kept')
      await fs.writeFile('/b', 'new')
      counted.statements.length = 0
      await fs.writeFile('/a', 'changed')
      await fs.writeFile('/c', 'new')
      expect(counted.statements).toEqual([
        expect.stringContaining('helix_fs_changes'),
        expect.stringContaining('helix_fs_additions'),
      ])
      expect(await fs.glob('**')).toEqual(['/a', '/b', '/c'])
    })
  },
)

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
