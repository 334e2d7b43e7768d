// Databases of earlier releases, opened by this one: every file of them is still read, and written
// as fast as any other.
import type { FileSystem } from '@helix-agents/core'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { countStatements, inObject, openFiles } from '../objects.ts'
import { rows, tables, triggers, views } from './fixtures/earlier-databases.ts'

const appliedTo = (version: number): string =>
  `INSERT INTO helix_fs_schema VALUES (${version}, 1760000000000)`

const DATABASES: Readonly<Record<string, readonly string[]>> = {
  'version 1': [...tables, ...rows, ...triggers, appliedTo(1)],
  'version 1, with views from before version 2': [
    ...tables,
    ...rows,
    ...triggers,
    ...views,
    appliedTo(1),
  ],
  'version 2': [...tables, ...rows, ...triggers, ...views, appliedTo(1), appliedTo(2)],
}

function restore(storage: DurableObjectStorage, statements: readonly string[]): void {
  for (const statement of statements) storage.sql.exec(statement)
}

async function textsOf(fs: FileSystem): Promise<Record<string, string | undefined>> {
  const paths = await fs.glob('**')
  const texts = paths.map(async (path) => [path, await fs.readText?.(path)] as const)
  return Object.fromEntries(await Promise.all(texts))
}

const KEPT = {
  '/a.txt': 'kept: 水\n',
  '/d/bytes': '\0\u0001\uFFFD\uFFFD',
  '/d/copy.txt': 'kept: 水\n',
  '/d/e/last': 'the last',
  '/empty': '',
  '/large.txt': 'x\n'.repeat(40_000),
}

test.each(Object.entries(DATABASES))('files of %s are read', async (_, statements) => {
  await inObject(async (storage) => {
    restore(storage, statements)
    const fs = await openFiles(storage)
    expect(await textsOf(fs)).toEqual(KEPT)
    expect(await fs.stat('/a.txt')).toEqual({
      path: '/a.txt',
      type: 'file',
      size: 10,
      mtime: new Date(1_760_000_000_000),
      version: '9af0e001.11020882',
    })
    expect((await fs.grep('last')).matches).toMatchObject([{ path: '/d/e/last' }])
    expect(databaseFaults(storage)).toEqual([])
  })
})

test.each(Object.entries(DATABASES))('files of %s are changed', async (_, statements) => {
  await inObject(async (storage) => {
    restore(storage, statements)
    const counted = countStatements(storage)
    const fs = await openFiles(counted.storage)
    const before = await fs.stat('/a.txt')
    await fs.writeFile('/a.txt', 'changed', { ifVersion: before.version })
    await fs.appendFile('/large.txt', 'the end')
    await fs.rm('/d/e', { recursive: true })
    await fs.writeFile('/b', 'new')
    counted.statements.length = 0
    await fs.writeFile('/b', 'new and changed')
    await fs.writeFile('/c', 'new')
    expect(counted.statements).toEqual([
      expect.stringContaining('helix_fs_changes'),
      expect.stringContaining('helix_fs_additions'),
    ])
    const { '/d/e/last': _removed, ...others } = KEPT
    expect(await textsOf(fs)).toEqual({
      ...others,
      '/a.txt': 'changed',
      '/b': 'new and changed',
      '/c': 'new',
      '/large.txt': `${KEPT['/large.txt']}the end`,
    })
    expect(databaseFaults(storage)).toEqual([])
  })
})

test('a migration that is cut short goes on where it was', async () => {
  await inObject(async (storage) => {
    restore(storage, DATABASES['version 1'] ?? [])
    const { sql } = storage
    // Enough for version 2 and the first statements of version 3.
    let left = 12
    const failing: FileStoreStorage = {
      sql: {
        exec: (statement, ...bindings) => {
          if ((left -= 1) < 0) throw new Error('the object is gone')
          return sql.exec(statement, ...bindings)
        },
      },
      transactionSync: (work) => storage.transactionSync(work),
    }
    await expect(openFiles(failing)).rejects.toMatchObject({ code: 'provider-failed' })
    const versions = sql.exec('SELECT max(version) AS version FROM helix_fs_schema').toArray()
    expect(versions).toEqual([{ version: 2 }])
    expect(await textsOf(await openFiles(storage))).toEqual(KEPT)
    expect(databaseFaults(storage)).toEqual([])
  })
})
