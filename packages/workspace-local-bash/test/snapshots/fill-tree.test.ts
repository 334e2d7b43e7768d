// The files of a stored snapshot, made in an empty directory.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { SNAPSHOT_BLOCK_BYTES, type SnapshotEntry } from '@helix-agents/core/provider'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fillTree } from '../../src/snapshots/fill-tree.ts'
import { blockReader } from '../../src/snapshots/read-ahead/block-reader.ts'
import { turnsDuring, useSlowMachine } from '../slow-machine.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()
const root = (): string => join(directory(), 'root')
const at = (path: string): string => join(root(), path)
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const ZEROS = hashOf(new Uint8Array(SNAPSHOT_BLOCK_BYTES))
let store: DirectorySnapshotStore
const lost = (n: number): SnapshotEntry => {
  const blocks = [hashOf(text(`lost ${n}`))]
  return { path: `/lost${n}`, type: 'file', size: 6, blocks }
}

beforeEach(() => {
  mkdirSync(root())
  store = new DirectorySnapshotStore({ directory: join(directory(), 'store') })
})

/** A file whose blocks are stored. */
async function fileOf(path: string, blocks: readonly Uint8Array[], mode?: number) {
  await store.putBlocks(
    's',
    blocks.map((bytes) => ({ hash: hashOf(bytes), bytes })),
  )
  return {
    path,
    type: 'file' as const,
    size: blocks.reduce((sum, { length }) => sum + length, 0),
    blocks: blocks.map(hashOf),
    ...(mode !== undefined && { mode }),
  }
}
async function fill(entries: readonly SnapshotEntry[], signal?: AbortSignal): Promise<void> {
  const manifest = await manifestOf('snapshot-of-a-test', entries)
  await fillTree(root(), { store, scope: 's', manifest, signal })
}
const text = (content: string): Uint8Array => new Uint8Array(Buffer.from(content))
const block = (byte: number): Uint8Array => new Uint8Array(SNAPSHOT_BLOCK_BYTES).fill(byte)

describe('a tree', () => {
  it('has directories, files and links as they were', async () => {
    await fill([
      { path: '/d', type: 'directory', mode: 0o500 },
      await fileOf('/d/f', [text('in d')], 0o640),
      { path: '/d/l', type: 'symlink', target: 'f' },
      await fileOf('/e', []),
      { path: '/plain', type: 'directory' },
      await fileOf('/same', [text('in d')]),
    ])
    expect([readFileSync(at('d/f'), 'utf8'), readFileSync(at('same'), 'utf8')]).toEqual([
      'in d',
      'in d',
    ])
    expect([readlinkSync(at('d/l')), statSync(at('e')).size]).toEqual(['f', 0])
    const modes = ['d', 'd/f', 'e', 'plain'].map((path) => lstatSync(at(path)).mode & 0o7777)
    expect(modes).toEqual([0o500, 0o640, 0o644, 0o755])
    chmodSync(at('d'), 0o700)
  })
  it('has its modes whatever the process masks', async () => {
    const before = process.umask(0o077)
    onTestFinished(() => void process.umask(before))
    await fill([await fileOf('/a', [], 0o666), await fileOf('/b', [], 0o666)])
    expect([statSync(at('a')).mode & 0o777, statSync(at('b')).mode & 0o777]).toEqual([0o666, 0o666])
  })
  it('that is not whole yet is nobody else’s', async () => {
    const made = { path: '/d', type: 'directory', mode: 0o755 } as const
    await expect(fill([made, lost(1)])).rejects.toThrow('the content of /lost1 is missing')
    expect(statSync(at('d')).mode & 0o777).toBe(0o700)
  })
  it('replaces nothing', async () => {
    writeFileSync(at('f'), 'there')
    await expect(fill([await fileOf('/f', [text('new')])])).rejects.toThrow('EEXIST')
    expect(readFileSync(at('f'), 'utf8')).toBe('there')
  })
})

describe('a large file', () => {
  it('of one block is whole when the tree is filled', async () => {
    await fill([await fileOf('/one', [block(3)])])
    expect(readFileSync(at('one')).equals(Buffer.from(block(3)))).toBe(true)
  })
  it('of two blocks has both', async () => {
    await fill([await fileOf('/two', [block(4), text('end')])])
    expect(readFileSync(at('two')).equals(Buffer.concat([block(4), text('end')]))).toBe(true)
  })
  it('is whole when the tree is filled', async () => {
    const blocks = [block(1), block(2), block(1), text('end')]
    await fill([await fileOf('/large', blocks, 0o600)])
    expect(readFileSync(at('large')).equals(Buffer.concat(blocks))).toBe(true)
    expect(statSync(at('large')).mode & 0o777).toBe(0o600)
  })
  it('has holes where it was zero, and needs no block for them', async () => {
    const [first] = (await fileOf('/f', [block(7)])).blocks
    const blocks = [ZEROS, first ?? '', ZEROS]
    await fill([{ path: '/f', type: 'file', size: 3 * SNAPSHOT_BLOCK_BYTES, blocks }])
    const found = readFileSync(at('f'))
    expect(found.equals(Buffer.concat([block(0), block(7), block(0)]))).toBe(true)
    expect(statSync(at('f')).blocks * 512).toBeLessThan(2 * SNAPSHOT_BLOCK_BYTES)
  })
})

describe('files of many batches, which a thread reads ahead', () => {
  const names = Array.from({ length: 1537 }, (_, n) => `f${n}`)
  /** All with the same content, but for one of the third batch. */
  async function many() {
    const [same, other] = [await fileOf('', [text('same')]), await fileOf('', [text('other')])]
    const files = names.map((name, n) => ({ ...(n === 1100 ? other : same), path: `/${name}` }))
    const [hash = ''] = other.blocks
    return { files, path: join(store.blockDirectory('s') ?? '', hash.slice(0, 2), hash.slice(2)) }
  }

  it('are each what they were, once', async () => {
    const { files } = await many()
    await fill(files)
    const found = names.map((name) => readFileSync(at(name), 'utf8'))
    expect(found).toEqual(names.map((_, n) => (n === 1100 ? 'other' : 'same')))
    expect(readdirSync(root())).toHaveLength(names.length)
  })
  it.skipIf(availableParallelism() === 1)('only these are for the thread', async () => {
    const use = vi.spyOn(blockReader(), 'use')
    const { files } = await many()
    await fill(files.slice(0, 1536))
    expect(use).not.toHaveBeenCalled()
    rmSync(root(), { recursive: true })
    mkdirSync(root())
    await fill(files)
    expect(use).toHaveBeenCalledOnce()
  })
  it('are refused when one of them is missing', async () => {
    const { files, path } = await many()
    rmSync(path)
    await expect(fill(files)).rejects.toThrow('the content of /f1100 is missing')
  })
})

describe('blocks that are missing', () => {
  it.each([
    [1, '/lost0'],
    [5, '/lost0, /lost1, /lost2, /lost3, /lost4'],
    [6, '/lost0, /lost1, /lost2, /lost3, /lost4 and 1 more'],
  ])('of %d files name five of them', async (count, named) => {
    const found = await fileOf('/found', [text('found')])
    const entries = [found, ...Array.from({ length: count }, (_, n) => lost(n))]
    await expect(fill(entries)).rejects.toMatchObject({
      code: 'missing-blocks',
      message: expect.stringContaining(
        `the snapshot is damaged: the content of ${named} is missing`,
      ) as string,
    })
  })
  it('of a large file name it', async () => {
    const blocks = [ZEROS, hashOf(text('lost'))]
    const size = SNAPSHOT_BLOCK_BYTES + 4
    const filled = fill([{ path: '/large', type: 'file', size, blocks }])
    await expect(filled).rejects.toThrow('the content of /large is missing')
  })
})

describe('a slow machine', () => {
  const directories = Array.from({ length: 20 }, (_, n) => ({
    path: `/d${String(n).padStart(2, '0')}`,
    type: 'directory' as const,
  }))
  it('gets its turns while a tree is filled', async () => {
    // One for making each, one for its mode.
    expect(await turnsDuring(() => fill(directories))).toBeGreaterThanOrEqual(40)
  })
  it('gets its turns while files are filled', async () => {
    const files = [
      await fileOf('/large', [block(1), block(1), block(1), block(1), block(1), block(1)]),
      ...(await Promise.all([1, 2, 3, 4, 5, 6].map((n) => fileOf(`/${n}`, [text('x')])))),
    ]
    // One for listing each file, one for each block or file, and more.
    expect(await turnsDuring(() => fill(files))).toBeGreaterThanOrEqual(19)
  })
  it('hears an abort at each of its turns', async () => {
    const [last = ''] = (await fileOf('/end', [text('end')])).blocks
    const blocks = [...Array.from({ length: 9 }, () => ZEROS), last]
    const entries = [
      ...directories.slice(0, 3),
      { path: '/large', type: 'file' as const, size: 9 * SNAPSHOT_BLOCK_BYTES + 3, blocks },
      await fileOf('/one', [text('x')]),
      await fileOf('/two', [text('y')]),
    ]
    useSlowMachine()
    // There are more than twenty of them.
    for (let nth = 1; nth <= 18; nth += 1) {
      rmSync(root(), { recursive: true })
      mkdirSync(root())
      const abort = new AbortController()
      let turn = 0
      const count = (): void => {
        turn += 1
        if (turn === nth) abort.abort(new Error('stopped'))
        else setImmediate(count)
      }
      setImmediate(count)
      await expect(fill(entries, abort.signal)).rejects.toThrow('stopped')
    }
  })
  it('hears an abort meanwhile', async () => {
    const abort = new AbortController()
    useSlowMachine()
    setImmediate(() => abort.abort(new Error('stopped')))
    await expect(fill(directories, abort.signal)).rejects.toThrow('stopped')
    expect(readdirSync(root()).length).toBeLessThan(20)
  })
})
