// The writes to the views, as the database sees them: one that is refused, for whatever reason,
// leaves nothing behind, not even inside a transaction that goes on.
import { expect, test } from 'vitest'
import { inObject, openFiles } from '../objects.ts'

const TABLES = ['state', 'namespaces', 'nodes', 'blocks']

function contentsOf({ sql }: DurableObjectStorage): unknown[] {
  return TABLES.map((table) => sql.exec(`SELECT * FROM helix_fs_${table}`).toArray())
}

interface Known {
  readonly namespace: number
  readonly content: number
  readonly version: number
}

function known({ sql }: DurableObjectStorage): Known {
  const [row] = sql
    .exec(
      `SELECT n.namespace, n.content, s.version FROM helix_fs_nodes n, helix_fs_state s
        WHERE n.name = 'a'`,
    )
    .toArray()
  return row as unknown as Known
}

const CHANGE = `INSERT INTO helix_fs_changes
  (namespace, flags, directory, name, content, mtime, version, data) VALUES (?, 0, ?, ?, ?, ?, ?, ?)`
const ADD = `INSERT INTO helix_fs_additions
  (namespace, flags, directory, name, mtime, version, data) VALUES (?, 0, ?, ?, ?, ?, ?)`

const data = new Uint8Array(5000).fill(7)
type Write = (of: Known) => readonly [statement: string, ...bindings: unknown[]]

const REFUSED: readonly (readonly [string, RegExp, Write])[] = [
  [
    'a change of tables that have moved on',
    /helix_fs_outdated/,
    (of) => [CHANGE, of.namespace, '/', 'a', of.content, 1, of.version, data],
  ],
  [
    'a change of tables that went back',
    /helix_fs_outdated/,
    (of) => [CHANGE, of.namespace, '/', 'a', of.content, 1, of.version + 2, data],
  ],
  [
    'a change of another content',
    /helix_fs_outdated/,
    (of) => [CHANGE, of.namespace, '/', 'a', of.content + 1, 1, of.version + 1, data],
  ],
  [
    'a change of a file that is not there',
    /helix_fs_outdated/,
    (of) => [CHANGE, of.namespace, '/', 'b', of.content, 1, of.version + 1, data],
  ],
  [
    'a change in another namespace',
    /helix_fs_outdated/,
    (of) => [CHANGE, of.namespace + 1, '/', 'a', of.content, 1, of.version + 1, data],
  ],
  [
    'a change that breaks a constraint',
    /NOT NULL/,
    (of) => [CHANGE, of.namespace, '/', 'a', of.content, null, of.version + 1, data],
  ],
  [
    'an addition to tables that have moved on',
    /helix_fs_outdated/,
    (of) => [ADD, of.namespace, '/', 'b', 1, of.version, data],
  ],
  [
    'an addition where something is',
    /UNIQUE constraint failed: helix_fs_nodes\./,
    (of) => [ADD, of.namespace, '/', 'a', 1, of.version + 1, data],
  ],
  [
    'an addition that breaks a constraint',
    /NOT NULL/,
    (of) => [ADD, of.namespace, '/', 'b', null, of.version + 1, data],
  ],
]

test.each(REFUSED)('%s leaves nothing behind', async (_, reason, write) => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'old')
    const before = contentsOf(storage)
    const [statement, ...bindings] = write(known(storage))
    storage.transactionSync(() => {
      expect(() => storage.sql.exec(statement, ...bindings)).toThrow(reason)
    })
    expect(contentsOf(storage)).toEqual(before)
  })
})

test('an addition whose block is there already leaves nothing behind', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'old')
    const { namespace, version } = known(storage)
    storage.sql.exec(
      'INSERT INTO helix_fs_blocks VALUES (?, 1, NULL, ?)',
      (version + 1) * 2 ** 20,
      data,
    )
    const before = contentsOf(storage)
    storage.transactionSync(() => {
      expect(() => storage.sql.exec(ADD, namespace, '/', 'b', 1, version + 1, data)).toThrow(
        /helix_fs_blocks/,
      )
    })
    expect(contentsOf(storage)).toEqual(before)
  })
})

test('writes that are let through count, and make exactly one version', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    await fs.writeFile('/a', 'old')
    const { namespace, content, version } = known(storage)
    storage.sql.exec(CHANGE, namespace, '/', 'a', content, 1, version + 1, data)
    storage.sql.exec(ADD, namespace, '/', 'b', 2, version + 2, data.subarray(0, 10))
    expect(known(storage).version).toBe(version + 2)
    expect(storage.sql.exec('SELECT files, bytes FROM helix_fs_namespaces').toArray()).toEqual([
      { files: 2, bytes: 5010 },
    ])
    expect(await fs.readFile('/a')).toEqual(data)
    expect(await fs.stat('/b')).toMatchObject({ size: 10, mtime: new Date(2) })
  })
})
