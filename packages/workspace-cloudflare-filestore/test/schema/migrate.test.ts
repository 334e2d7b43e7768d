import { expect, test } from 'vitest'
import { countStatements, inObject, openFiles } from '../objects.ts'
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
      { version: 3 },
    ])
  })
})

test('tables of a later release are left alone', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'kept')
    storage.sql.exec('INSERT INTO helix_fs_schema VALUES (4, 0)')
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
