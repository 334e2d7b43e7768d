// A database without a free page, which workerd cannot be told to have: this runs in Node. Whatever
// the room, a change is made or not made, what was stored before it stays, and counts are exact.
import type { FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'
import { databaseFaults, type Tree, treeOf } from './crash/audit.ts'
import { codeOf } from './code-of.ts'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

const sampler = new TestSampler()

async function open(storage: FileStoreStorage): Promise<FileSystem> {
  const { ws } = await createProvider(storage).open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions(),
  )
  return ws.fs as FileSystem
}

const sizes = [1, 300, 2_000, 4_300, 9_000, 40_000]

/** Files of many sizes; all of them are known to the isolate afterwards. */
async function fill(fs: FileSystem): Promise<void> {
  for (let i = 0; i < 24; i += 1) {
    await fs.writeFile(`/d/${i}-${'n'.repeat(i)}`, 'x'.repeat((sizes[i % sizes.length] ?? 0) + i))
  }
}

type Change = (fs: FileSystem, path: string, size: number) => Promise<unknown>

const CHANGES: Readonly<Record<string, Change>> = {
  'a shorter overwrite': (fs, path, size) => fs.writeFile(path, 'y'.repeat(Math.ceil(size / 2))),
  'an overwrite of the same size': (fs, path, size) => fs.writeFile(path, 'y'.repeat(size)),
  'a longer overwrite': (fs, path, size) => fs.writeFile(path, 'y'.repeat(size + 5_000)),
  'a new file': (fs, path, size) => fs.writeFile(`${path}-new`, 'y'.repeat(size)),
  'a new file in new directories': (fs, path) => fs.writeFile(`${path}-d/e/f`, 'y'.repeat(70_000)),
  'an append': (fs, path) => fs.appendFile(path, 'y'.repeat(3_000)),
  'a copy': (fs, path) => fs.copy(path, `${path}-copy`),
  'a move': (fs, path) => fs.move(path, `${path}-moved-${'m'.repeat(150)}`),
  'a removal': (fs, path) => fs.rm(path),
}

const NEED_LITTLE = ['an overwrite of the same size', 'a copy', 'a removal']

interface Count {
  stored: number
  full: number
}

/** Changes one file after another until there is no room; every change is made, or not at all. */
async function changeUntilFull(change: Change, morePages: number, count: Count): Promise<void> {
  const storage = new NodeStorage()
  const fs = await open(storage)
  await fill(fs)
  storage.commit()
  storage.limitTo(morePages)
  const files = (await fs.ls('/d')).filter((entry) => entry.type === 'file')
  let before: Tree = await treeOf(fs)
  for (const { path, size } of files) {
    const code = await codeOf(change(fs, path, size ?? 0))
    count[code === undefined ? 'stored' : 'full'] += 1
    expect([undefined, 'storage-full']).toContain(code)
    // SQLite may end the whole transaction: as if the object had been evicted before it.
    if (!storage.database.isTransaction) break
    const after = await treeOf(fs)
    expect(code === undefined ? before : after).toEqual(before)
    expect(databaseFaults(storage)).toEqual([])
    storage.commit()
    before = after
  }
  storage.restart()
  const again = await open({
    sql: storage.sql,
    transactionSync: (work) => storage.transactionSync(work),
  })
  expect(await treeOf(again)).toEqual(before)
  expect(databaseFaults(storage)).toEqual([])
  storage.database.close()
}

test.each(Object.entries(CHANGES))('%s', { timeout: 120_000 }, async (name, change) => {
  const count = { stored: 0, full: 0 }
  const some = sampler.pick(`pages for ${name}`, [1, 2, 3, 5], 1)
  for (const pages of [0, ...some, 30]) await changeUntilFull(change, pages, count)
  expect(count.stored).toBeGreaterThan(0)
  expect(count.full > 0 || NEED_LITTLE.includes(name)).toBe(true)
})

test('what was stored just before stays, when what is known is overwritten', async () => {
  let full = 0
  for (let round = 0; round < sampler.size(60, 6); round += 1) {
    const storage = new NodeStorage()
    const fs = await open(storage)
    await fill(fs)
    storage.commit()
    storage.limitTo(0)
    const files = await fs.ls('/d')
    for (let i = 0; i < 120; i += 1) {
      const file = files[(i * 7 + round * 13) % files.length]
      const size = Math.max(1, Math.floor((file?.size ?? 1) * (0.97 - (round % 10) / 11)))
      if ((await codeOf(fs.writeFile(file?.path ?? '', 'z'.repeat(size)))) !== undefined) full += 1
      // The changes before it, which were said to be made, are not committed yet.
      expect(storage.database.isTransaction).toBe(true)
    }
    expect(databaseFaults(storage)).toEqual([])
    storage.database.close()
  }
  expect(full).toBeGreaterThan(0)
})
