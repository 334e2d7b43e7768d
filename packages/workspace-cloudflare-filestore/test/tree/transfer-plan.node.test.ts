// What stands at a path, and what copies, moves and removals make of a tree: in Node, over its SQLite.
import type { FileSystem } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

async function open(setup: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const clock = new ManualClock(1000)
  const provider = createProvider(storage, { clock, ...setup })
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  const tree = async (): Promise<Record<string, string>> => {
    const files: Record<string, string> = {}
    for (const path of await fs.glob('**/*')) {
      files[path] = new TextDecoder().decode(await fs.readFile(path))
    }
    return files
  }
  const entries = () => storage.sql.exec('SELECT * FROM helix_fs_nodes').toArray().length
  return { storage, clock, fs, tree, entries }
}

async function planted(setup: ProviderSetup = {}) {
  const parts = await open(setup)
  for (const [path, text] of [
    ['/a', 'one'],
    ['/d/b', 'two'],
    ['/d/e/c', 'three'],
    ['/d-x/b', 'beside'],
    ['/d0', 'behind'],
  ] as const) {
    await parts.fs.writeFile(path, text)
  }
  await parts.fs.mkdir('/empty')
  return parts
}

describe.each(['copy', 'move'] as const)('%s', (method) => {
  const isCopy = method === 'copy'

  test('takes a tree with all below it and nothing beside it', async () => {
    const { fs, tree, storage } = await planted()
    await fs[method]('/d', '/n/m/d')
    expect(await tree()).toEqual({
      '/a': 'one',
      ...(isCopy && { '/d/b': 'two', '/d/e/c': 'three' }),
      '/n/m/d/b': 'two',
      '/n/m/d/e/c': 'three',
      '/d-x/b': 'beside',
      '/d0': 'behind',
    })
    expect((await fs.stat('/n/m')).type).toBe('directory')
    expect(databaseFaults(storage)).toEqual([])
  })

  test('takes a file to a new path, or over another one when that is allowed', async () => {
    const { fs, tree, storage } = await planted()
    await fs[method]('/a', '/new/a')
    await expect(fs[method]('/d/b', '/d0')).rejects.toMatchObject({ code: 'already-exists' })
    await fs[method]('/d/b', '/d0', { overwrite: true })
    const after = await tree()
    expect([after['/new/a'], after['/d0'], after['/a'], after['/d/b']]).toEqual([
      'one',
      'two',
      isCopy ? 'one' : undefined,
      isCopy ? 'two' : undefined,
    ])
    expect(databaseFaults(storage)).toEqual([])
  })

  test('to the same path changes nothing', async () => {
    const { fs, tree } = await planted()
    const before = await tree()
    const { version } = await fs.stat('/a')
    await fs[method]('/a', '/a', { overwrite: true })
    expect([await tree(), (await fs.stat('/a')).version]).toEqual([before, version])
  })

  test.each<readonly [string, string, boolean, string]>([
    ['/none', '/x', false, 'not-found'],
    ['/a', '/d0', false, 'already-exists'],
    ['/a', '/a', false, 'already-exists'],
    ['/a', '/', false, 'already-exists'],
    ['/a', '/', true, 'is-directory'],
    ['/a', '/d', true, 'is-directory'],
    ['/d', '/a', true, 'not-directory'],
    ['/d', '/empty', false, 'already-exists'],
    ['/d', '/empty', true, 'is-directory'],
    ['/a', '/a/x', true, 'not-directory'],
    ['/a', '/d0/x/y', true, 'not-directory'],
    ['/d', '/d', true, 'invalid-path'],
    ['/d', '/d/e/x', true, 'invalid-path'],
    ['/', '/x', false, 'invalid-path'],
  ])(
    'of %s to %s, overwriting: %s, is refused as %s and changes nothing',
    async (from, to, overwrite, code) => {
      const { fs, tree, entries, storage } = await planted()
      const before = [await tree(), entries()]
      await expect(fs[method](from, to, { overwrite })).rejects.toMatchObject({ code })
      expect([await tree(), entries()]).toEqual(before)
      expect(databaseFaults(storage)).toEqual([])
    },
  )

  test('gives what is there a new version, and the time that it has', async () => {
    const { fs, clock } = await planted()
    const file = await fs.stat('/a')
    const below = await fs.stat('/d/e/c')
    await clock.advance(500)
    await fs[method]('/a', '/n')
    await fs[method]('/d', '/m')
    const times = [await fs.stat('/n'), await fs.stat('/m/e/c')]
    for (const [index, before] of [file, below].entries()) {
      expect(times[index]?.version).not.toBe(before.version)
      expect(Number(times[index]?.mtime)).toBe(isCopy ? 1500 : 1000)
      expect(times[index]?.size).toBe(before.size)
    }
  })
})

describe('a removal', () => {
  test('takes a file, an empty directory, or all below one, and nothing beside it', async () => {
    const { fs, tree, storage } = await planted()
    await expect(fs.rm('/d')).rejects.toMatchObject({ code: 'not-empty' })
    await expect(fs.rm('/none')).rejects.toMatchObject({ code: 'not-found' })
    await fs.rm('/a')
    await fs.rm('/empty')
    await fs.rm('/d', { recursive: true })
    expect(await tree()).toEqual({ '/d-x/b': 'beside', '/d0': 'behind' })
    expect(databaseFaults(storage)).toEqual([])
    expect(storage.sql.exec('SELECT * FROM helix_fs_blocks').toArray()).toHaveLength(2)
  })

  test('of a tree with shared contents leaves the others', async () => {
    const { fs, tree, storage } = await planted()
    await fs.copy('/d', '/n')
    await fs.copy('/d/b', '/d/twice')
    await fs.rm('/d', { recursive: true })
    expect(await tree()).toMatchObject({ '/n/b': 'two', '/n/e/c': 'three' })
    expect(databaseFaults(storage)).toEqual([])
    await fs.rm('/n', { recursive: true })
    expect(storage.sql.exec('SELECT * FROM helix_fs_shares').toArray()).toEqual([])
    expect(databaseFaults(storage)).toEqual([])
  })
})

describe('a directory', () => {
  test('is listed in the order of code points, by its direct children', async () => {
    const { fs } = await planted()
    expect(await fs.ls('/')).toEqual([
      { name: 'a', path: '/a', type: 'file', size: 3 },
      { name: 'd', path: '/d', type: 'directory' },
      { name: 'd-x', path: '/d-x', type: 'directory' },
      { name: 'd0', path: '/d0', type: 'file', size: 6 },
      { name: 'empty', path: '/empty', type: 'directory' },
    ])
    expect(await fs.ls('/empty')).toEqual([])
    await expect(fs.ls('/a')).rejects.toMatchObject({ code: 'not-directory', path: '/a' })
    await expect(fs.ls('/none')).rejects.toMatchObject({ code: 'not-found', path: '/none' })
  })

  test.each([4999, 5000, 5001, 10_000])('of %i files is listed whole', async (count) => {
    const { fs, storage } = await open()
    storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
        INSERT INTO helix_fs_nodes SELECT s.id, '/', 'd' || i, NULL, 0, 0, 0, 0, 0
        FROM n, helix_fs_namespaces s`,
    )
    const names = (await fs.ls('/')).map(({ name }) => name)
    expect([names.length, new Set(names).size]).toEqual([count, count])
  })

  test('is made once, with those above it when that is wanted', async () => {
    const { fs, clock } = await planted()
    await clock.advance(5)
    await expect(fs.mkdir('/x/y')).rejects.toMatchObject({ code: 'not-found' })
    await fs.mkdir('/x/y', { recursive: true })
    expect(await fs.stat('/x')).toMatchObject({ type: 'directory', size: 0, mtime: new Date(1005) })
    await fs.mkdir('/x/y', { recursive: true })
    await expect(fs.mkdir('/x/y')).rejects.toMatchObject({ code: 'already-exists' })
    await expect(fs.mkdir('/')).rejects.toMatchObject({ code: 'already-exists' })
    await fs.mkdir('/', { recursive: true })
    for (const recursive of [true, false]) {
      await expect(fs.mkdir('/a', { recursive })).rejects.toMatchObject({ code: 'already-exists' })
      await expect(fs.mkdir('/a/x', { recursive })).rejects.toMatchObject({ code: 'not-directory' })
    }
    expect((await fs.stat('/')).type).toBe('directory')
  })
})
