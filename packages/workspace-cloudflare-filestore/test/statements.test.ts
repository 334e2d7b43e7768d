// How many statements an operation takes, and that none of them grows with the number of files.
import { env } from 'cloudflare:workers'
import type {
  FileStoreStorage,
  FileStoreSqlBinding,
} from '@helix-agents/workspace-cloudflare-filestore'
import type { FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { countStatements } from './counted-storage.ts'
import { inObject, openFiles } from './objects.ts'

/** Runs an operation on files of a workspace and says how many statements that took. */
function statementsOf(
  prepare: (fs: FileSystem) => Promise<unknown>,
  run: (fs: FileSystem) => Promise<unknown>,
): Promise<number> {
  return inObject(async (storage) => {
    const counted = countStatements(storage)
    const fs = await openFiles(counted.storage, { r2: env.BUCKET })
    await prepare(fs)
    counted.statements.length = 0
    await run(fs)
    return counted.statements.length
  })
}

const withFile = (fs: FileSystem): Promise<unknown> => fs.writeFile('/d/a.txt', 'x'.repeat(4096))

test.each([
  ['a new file in a directory', 3, (fs: FileSystem) => fs.writeFile('/d/b.txt', 'new')],
  ['a new file in the root', 1, (fs: FileSystem) => fs.writeFile('/b.txt', 'new')],
  ['an overwrite of what is known', 1, (fs: FileSystem) => fs.writeFile('/d/a.txt', 'other')],
  ['a read', 1, (fs: FileSystem) => fs.readFile('/d/a.txt')],
  ['a read of text', 1, (fs: FileSystem) => fs.readText?.('/d/a.txt')],
  ['a stat', 1, (fs: FileSystem) => fs.stat('/d/a.txt')],
  ['a listing', 1, (fs: FileSystem) => fs.ls('/d')],
  ['an append', 3, (fs: FileSystem) => fs.appendFile('/d/a.txt', 'more')],
])('%s takes %i statements', async (_, wanted, run) => {
  expect(await statementsOf(withFile, async (fs) => run(fs))).toBe(wanted)
})

test.each([
  ['a new file', 3, '/d/b.txt'],
  ['an overwrite', 3, '/d/a.txt'],
])('%s in a new isolate takes %i statements', async (_, wanted, path) => {
  await inObject(async (storage) => {
    await withFile(await openFiles(storage))
    const counted = countStatements(storage)
    const fs = await openFiles(counted.storage)
    counted.statements.length = 0
    await fs.writeFile(path, 'new')
    expect(counted.statements).toHaveLength(wanted)
    // Whatever is in memory now has to be as good as what it was made from.
    counted.statements.length = 0
    await fs.writeFile(path, 'newer')
    expect(await fs.readText?.(path)).toBe('newer')
    expect(await fs.stat(path)).toMatchObject({ size: 5 })
    expect(counted.statements).toHaveLength(3)
  })
})

const withLarge = (fs: FileSystem): Promise<unknown> => fs.writeFile('/a', 'x'.repeat(3_000_000))

test('a large file of the database is read in one statement', async () => {
  expect(await statementsOf(withLarge, (fs) => fs.readFile('/a'))).toBe(1)
})

test('an edit of a large file writes one block', async () => {
  await inObject(async (storage) => {
    const counted = countStatements(storage)
    const fs = await openFiles(counted.storage)
    const line = 'a line of some text that is edited\n'
    const before = line.repeat(30_000)
    await fs.writeFile('/a', before)
    counted.statements.length = 0
    const at = line.length * 15_000
    const after = `${before.slice(0, at)}a line that is longer than it was\n${before.slice(at)}`
    await fs.writeFile('/a', after)
    const changes = counted.statements.filter((it) => /^(UPDATE|INSERT|DELETE).*_blocks/.test(it))
    expect(changes).toHaveLength(1)
    expect(await fs.readText?.('/a')).toBe(after)
  })
})

/** Rows that the database reads and writes for an operation: exact, and the same every time. */
function countRows(storage: DurableObjectStorage): {
  readonly storage: FileStoreStorage
  rows: number
} {
  const counted = { rows: 0 }
  const sql = {
    exec: (statement: string, ...bindings: FileStoreSqlBinding[]) => {
      const cursor = storage.sql.exec(statement, ...bindings)
      const rows = cursor.toArray()
      counted.rows += cursor.rowsRead + cursor.rowsWritten
      return { toArray: () => rows }
    },
  }
  return Object.assign(counted, {
    storage: { sql, transactionSync: <T>(work: () => T) => storage.transactionSync(work) },
  })
}

const operations: readonly (readonly [string, (fs: FileSystem) => Promise<unknown>])[] = [
  ['write', (fs) => fs.writeFile('/d1/new', 'x')],
  ['overwrite', (fs) => fs.writeFile('/d1/new', 'y')],
  ['append', (fs) => fs.appendFile('/d1/new', 'z')],
  ['read', (fs) => fs.readFile('/d1/new')],
  ['stat', (fs) => fs.stat('/d1/new')],
  ['ls', (fs) => fs.ls('/d1')],
  ['glob', (fs) => fs.glob('d1/*')],
  ['grep', (fs) => fs.grep('z', { path: '/d1' })],
  ['copy', (fs) => fs.copy('/d1/new', '/d1/other')],
  ['move', (fs) => fs.move('/d1/other', '/d1/third')],
  ['rm', (fs) => fs.rm('/d1/third')],
]

/** 20 files a directory, in directories that do not end. */
const FILL = `WITH RECURSIVE counted(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM counted WHERE i < ?2 - 1)
  INSERT INTO helix_fs_nodes SELECT ?1, '/d' || (i / 20) || '/', 'f' || (i % 20), NULL, 0, 0, 0, 0, 0
  FROM counted`

test('no operation costs more with more files', { timeout: 120_000 }, async () => {
  const costs = await inObject(async (storage) => {
    const counted = countRows(storage)
    const fs = await openFiles(counted.storage, { maxFiles: 1_000_000 })
    const [{ id } = { id: 0 }] = storage.sql
      .exec<{ id: number }>('SELECT id FROM helix_fs_namespaces')
      .toArray()
    const all: Record<string, number>[] = []
    for (const count of [100, 1_000, 10_000, 100_000]) {
      storage.sql.exec('DELETE FROM helix_fs_nodes')
      storage.sql.exec(FILL, id, count)
      await fs.mkdir('/d1')
      const cost: Record<string, number> = {}
      for (const [name, run] of operations) {
        counted.rows = 0
        await run(fs)
        cost[name] = counted.rows
      }
      all.push(cost)
    }
    return all
  })
  const [few = {}] = costs
  // Only a glob in a large namespace takes a page more: 2 rows.
  for (const cost of costs) expect({ ...cost, glob: few.glob }).toEqual(few)
  for (const { glob = Infinity } of costs) expect(glob - (few.glob ?? 0)).toBeLessThanOrEqual(2)
})
