// The order in which the files of a tree are searched: in Node, over its SQLite.
import { compareCodePoints } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextLoader } from '../../src/search/load-texts.ts'
import { type Walk, walkFiles } from '../../src/search/walk.ts'
import { sharedStateOf } from '../../src/shared-state.ts'
import { Database } from '../../src/sql/database.ts'
import type { StoreContext } from '../../src/store-context.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

async function open(paths: readonly string[]) {
  const storage = new NodeStorage()
  await createProvider(storage).open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const [row] = storage.sql.exec('SELECT id FROM helix_fs_namespaces').toArray()
  const namespace = { id: Number(row?.id) }
  const add = (path: string, content: number | null): void => {
    const end = path.lastIndexOf('/') + 1
    storage.sql.exec(
      `INSERT OR IGNORE INTO helix_fs_nodes
        (namespace, directory, name, content, size, blocks, flags, mtime, version)
        VALUES (?, ?, ?, ?, 0, 0, 0, 0, 1)`,
      namespace.id,
      path.slice(0, end),
      path.slice(end),
      content,
    )
  }
  for (const path of paths) {
    add(path, 1)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      add(path.slice(0, end), null)
    }
  }
  const database = new Database(storage)
  const limits = { maxWholeReadBytes: 1_000_000 }
  const shared = sharedStateOf(storage)
  const context = { database, namespace, limits, shared } as StoreContext
  const steps = (walk: Partial<Walk>, directory = '/') => [
    ...walkFiles(context, directory, { enters: () => true, filter: undefined, ...walk }),
  ]
  const walk = (directory = '/', enters: (path: string) => boolean = () => true): string[] =>
    steps({ enters }, directory).map((step) => ('path' in step ? step.path : ''))
  return { walk, steps, storage, context }
}

/** A directory is no file of the same name, and neither is below the other. */
const name = fc.constantFrom('a', 'a-b', 'a.b', 'a0', 'b', '-', '.', '\u{1F600}', '\uFFFD')
const paths = fc.uniqueArray(
  fc
    .tuple(fc.array(name, { maxLength: 3 }), name)
    .map(([directories, file]) => `/${directories.map((one) => `${one}d/`).join('')}${file}`),
  { maxLength: 25 },
)

test('property: files come in the order of their paths', async () => {
  await fc.assert(
    fc.asyncProperty(paths, async (all) => {
      const walked = (await open(all)).walk()
      expect(walked).toEqual(all.toSorted(compareCodePoints))
    }),
    { numRuns: 60 },
  )
})

test('a page of a directory is followed by the next one', async () => {
  for (const count of [255, 256, 257, 512]) {
    const all = Array.from({ length: count }, (_, index) => `/${10_000 + index}`)
    const walked = (await open([...all, '/0/x', '/10500-d/x'])).walk()
    expect([count, walked]).toEqual([
      count,
      [...all, '/0/x', '/10500-d/x'].toSorted(compareCodePoints),
    ])
  }
})

test('a directory is entered when it is wanted, and only what is below one is walked', async () => {
  const { walk } = await open(['/a/x', '/b/c/x', '/b/y', '/z'])
  const asked: string[] = []
  const enters = (directory: string): boolean => {
    asked.push(directory)
    return directory !== '/b/'
  }
  expect(walk('/', enters)).toEqual(['/a/x', '/z'])
  expect(asked).toEqual(['/a/', '/b/'])
  expect(walk('/b/')).toEqual(['/b/c/x', '/b/y'])
})

test('with a text, each page of a directory says how many bytes were searched for it', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `/${1000 + index}`)
  const { steps, storage } = await open([...names, '/d/x'])
  storage.sql.exec("UPDATE helix_fs_nodes SET size = 10, blocks = 1 WHERE name LIKE '1%'")
  // Larger than a block: what the database searches of it is one.
  storage.sql.exec("UPDATE helix_fs_nodes SET size = 100000, blocks = 2 WHERE name = '1299'")
  const filter = { literal: new TextEncoder().encode('needle'), maxBytes: 1_000_000 }
  expect(steps({ filter }).map((step) => ('path' in step ? step.path : step.bytes))).toEqual([
    2560,
    '/1299',
    43 * 10 + 65_536,
    '/d/x',
    0,
  ])
})

test('a file that is gone when its turn comes has no text', async () => {
  const { context } = await open([])
  const content = { id: 7, size: 100_000, blocks: 2, flags: 0 }
  const loader = createTextLoader(context, undefined)
  expect(await loader.loadAlone({ path: '/gone', content })).toBeUndefined()
})
