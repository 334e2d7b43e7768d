// Trees that one transaction would hold the event loop for: copies and moves are refused, a removal
// goes in steps.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FileSystem } from '@helix-agents/core/provider'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { codeOf } from '../code-of.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

let storage: NodeStorage
let fs: FileSystem

beforeEach(async () => {
  storage = new NodeStorage()
  const { ws } = await createProvider(storage).open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions(),
  )
  fs = ws.fs!
})

afterEach(() => storage.database.close())

/** Files as many writes make them, in two directories of equal size. */
async function plant(entries: number, directory = '/d'): Promise<void> {
  await fs.writeFile(`${directory}/a/first`, 'x')
  await fs.writeFile(`${directory}/b/first`, 'x')
  const half = Math.floor((entries - 4) / 2)
  for (const below of ['a', 'b']) {
    storage.sql.exec(
      `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
        INSERT INTO helix_fs_nodes
        SELECT (SELECT max(id) FROM helix_fs_namespaces), ?, 'f' || n, (n + ?) * 1048576, 1, 1, 4, 0,
          (SELECT version + 1 FROM helix_fs_state) FROM i`,
      half,
      `${directory}/${below}/`,
      below === 'a' ? 1e9 : 2e9,
    )
  }
  storage.sql.exec(`INSERT INTO helix_fs_blocks (id, size, data)
    SELECT content, 1, x'78' FROM helix_fs_nodes
    WHERE content IS NOT NULL AND content NOT IN (SELECT id FROM helix_fs_blocks)`)
}

function count(table: string): number {
  const [row] = storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).toArray()
  return Number(row?.n)
}

describe.each(['copy', 'move'] as const)('%s', (method) => {
  test('takes a tree of 10,000 entries', async () => {
    await plant(10_000)
    await fs[method]('/d', '/e')
    expect(await fs.readText!('/e/b/f4998')).toBe('x')
  })

  test('refuses a larger one, changes nothing and says what to do', async () => {
    await plant(10_004)
    const before = count('helix_fs_nodes')
    await expect(fs[method]('/d', '/e/f')).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('10000 entries'),
      hint: expect.stringContaining('one by one'),
    })
    expect(count('helix_fs_nodes')).toBe(before)
    await fs[method]('/d/a', '/e')
    expect(await fs.readText!('/e/f1')).toBe('x')
  })

  test('counts the paths, also those at the new place', async () => {
    await plant(2_000)
    const long = `/${'n'.repeat(250)}`.repeat(10)
    expect(await codeOf(fs[method]('/d', long))).toBe('too-large')
    await plant(2_000, long)
    expect(await codeOf(fs[method](long, '/e'))).toBe('too-large')
  })
})

describe('rm', () => {
  test('removes 10,000 entries in one transaction, before the call returns', async () => {
    await plant(9_990)
    const removed = fs.rm('/d', { recursive: true })
    expect(count('helix_fs_nodes')).toBe(0)
    await removed
    expect(count('helix_fs_blocks')).toBe(0)
  })

  test('removes a larger tree in steps, the deepest first, and lets others run', async () => {
    await plant(12_000)
    await fs.writeFile('/other/x', 'x')
    const counts: number[] = []
    const removed = fs.rm('/d', { recursive: true })
    while (count('helix_fs_nodes') > 2) {
      counts.push(count('helix_fs_nodes'))
      expect(orphans()).toBe(0)
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    await removed
    expect(counts.length).toBeGreaterThan(5)
    expect(await codeOf(fs.stat('/d'))).toBe('not-found')
    expect(count('helix_fs_nodes')).toBe(2)
    expect(count('helix_fs_blocks')).toBe(1)
    const [used] = storage.sql.exec('SELECT files, bytes FROM helix_fs_namespaces').toArray()
    expect(used).toEqual({ files: 2, bytes: 1 })
  })

  test('a step that fails leaves the rest, and removing again removes it', async () => {
    await plant(12_000)
    const transactionSync = storage.transactionSync.bind(storage)
    let steps = 0
    storage.transactionSync = (work) => {
      steps += 1
      if (steps === 4) throw new Error('the disk fails')
      return transactionSync(work)
    }
    expect(await codeOf(fs.rm('/d', { recursive: true }))).toBe('provider-failed')
    expect(orphans()).toBe(0)
    expect(count('helix_fs_nodes')).toBeGreaterThan(8_000)
    await fs.rm('/d', { recursive: true })
    expect(count('helix_fs_nodes')).toBe(0)
    expect(count('helix_fs_blocks')).toBe(0)
  })

  test('what is written meanwhile goes as well; a file at the place of the tree stays', async () => {
    await plant(12_000)
    const removed = fs.rm('/d', { recursive: true })
    await fs.writeFile('/d/z/late', 'x')
    await removed
    expect(await codeOf(fs.stat('/d'))).toBe('not-found')
    await plant(12_000)
    const first = fs.rm('/d', { recursive: true })
    // Each is small enough to be done at once, before the first goes on.
    const others = [fs.rm('/d/a', { recursive: true }), fs.rm('/d', { recursive: true })]
    const written = fs.writeFile('/d', 'new')
    await Promise.all([first, ...others, written])
    expect(await fs.readText!('/d')).toBe('new')
    expect(count('helix_fs_blocks')).toBe(1)
  })
})

/** Nodes whose directory is gone. */
function orphans(): number {
  const [row] = storage.sql
    .exec(
      `SELECT count(*) AS n FROM (SELECT DISTINCT directory FROM helix_fs_nodes WHERE directory <> '/') c
        WHERE NOT EXISTS (SELECT 1 FROM helix_fs_nodes p
          WHERE p.content IS NULL AND p.directory || p.name || '/' = c.directory)`,
    )
    .toArray()
  return Number(row?.n)
}

describe('close', () => {
  const owner = { kind: 'cloudflare-filestore' } as const

  /** Fails from a transaction on, as the end of the isolate does. */
  async function closeUntil(transaction: number): Promise<{ readonly code: string | undefined }> {
    const provider = createProvider(storage)
    const { ws } = await provider.open(owner, session, openOptions())
    const transactionSync = storage.transactionSync.bind(storage)
    let started = 0
    storage.transactionSync = (work) => {
      started += 1
      if (started >= transaction) throw new Error('the isolate is gone')
      return transactionSync(work)
    }
    const code = await codeOf(ws.close())
    storage.transactionSync = transactionSync
    return { code }
  }

  test('of a large tree goes in steps, and every handle is lost at once', async () => {
    await plant(12_000)
    const provider = createProvider(storage)
    const { ws, ref } = await provider.open(owner, session, openOptions())
    let turns = 0
    const closed = ws.close()
    expect(await codeOf(fs.readFile('/d/a/first'))).toBe('lost')
    expect(await codeOf(fs.ls('/'))).toBe('lost')
    expect(await codeOf(provider.resolve(ref, { ...openOptions(), session }))).toBe('lost')
    const { ws: next } = await provider.open(owner, session, openOptions())
    await next.fs!.writeFile('/d/a/first', 'of the next')
    while (count('helix_fs_removals') > 0) {
      turns += 1
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    await closed
    expect(turns).toBeGreaterThan(2)
    expect(await next.fs!.readText!('/d/a/first')).toBe('of the next')
    expect(count('helix_fs_nodes')).toBe(3)
    expect(count('helix_fs_blocks')).toBe(1)
  })

  // The tombstone is the first transaction, and 13 steps follow it.
  test.each([1, 2, 3, 8, 14])(
    'that a crash cuts short at transaction %i is finished',
    async (at) => {
      await plant(12_000)
      const { code } = await closeUntil(at)
      expect(code).toBe('provider-failed')
      // What the isolate knew is gone with it.
      const isolate: FileStoreStorage = {
        sql: { exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings) },
        transactionSync: (work) => storage.transactionSync(work),
      }
      const provider = createProvider(isolate)
      const isClosed = at > 1
      expect(provider.nextCollectionAt()).toBe(isClosed ? 0 : undefined)
      const { ws, receipt } = await provider.open(owner, session, openOptions())
      expect(receipt.outcome).toBe(isClosed ? 'created' : 'reattached')
      expect(await ws.fs!.ls('/')).toHaveLength(isClosed ? 0 : 1)
      if (!isClosed) await ws.close()
      await provider.collect()
      expect(provider.nextCollectionAt()).toBe(undefined)
      expect(
        ['nodes', 'blocks', 'removals', 'unlinked'].map((it) => count(`helix_fs_${it}`)),
      ).toEqual([0, 0, 0, 0])
    },
  )
})
