// What a walk through a workspace finds, and what it leaves out.
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BlockWriter, MAX_PATH_DEPTH, SNAPSHOT_BLOCK_BYTES } from '@helix-agents/core/provider'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ANCHOR_NO_LINK } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { datedDevice } from '../../src/snapshots/change-times.ts'
import { KnownFiles } from '../../src/snapshots/known-files.ts'
import { readContent } from '../../src/snapshots/read-content.ts'
import { readTree, type TreeSource } from '../../src/snapshots/read-tree.ts'
import { sha256 } from '../../src/snapshots/store/block-files.ts'
import { nest } from '../deep-tree.ts'
import { turnsDuring } from '../slow-machine.ts'
import { useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()
const root = (): string => join(directory(), 'root')
const at = (path: string): string => join(root(), path)
const systemError = (code: string): Error => Object.assign(new Error(code), { code })
let checked: number[]
let counts: number[]
beforeEach(() => {
  mkdirSync(root())
  ;[checked, counts] = [[], []]
})

function contentOf(signal?: AbortSignal): TreeSource['content'] {
  const store = new DirectorySnapshotStore({ directory: join(directory(), 'store') })
  return {
    writer: new BlockWriter(store, 's', { hashOf: sha256, copies: true, maxBytes: Infinity }),
    buffer: new Uint8Array(SNAPSHOT_BLOCK_BYTES),
    signal,
    checkSize: (bytes) => void checked.push(bytes),
  }
}
const open = (): PinnedDirectory => PinnedDirectory.open(root(), ANCHOR_NO_LINK)

/** A walk. @param known What the one before has read. */
async function read(known = new KnownFiles(), more: Partial<TreeSource> = {}) {
  const tree = await readTree(open(), {
    root: root(),
    shellRoot: '/workspace',
    known,
    hasFineTimes: true,
    content: contentOf(),
    checkCount: (entries) => void counts.push(entries),
    ...more,
  })
  return tree
}
const paths = ({ entries }: Awaited<ReturnType<typeof read>>): string[] =>
  entries.map(({ path }) => path)

describe('a tree', () => {
  beforeEach(() => {
    mkdirSync(at('b/c'), { recursive: true })
    writeFileSync(at('b/c/f'), 'content', { mode: 0o640 })
    writeFileSync(at('b.txt'), '')
    symlinkSync('/workspace/b', at('a'))
    chmodSync(at('b/c'), 0o700)
  })
  it('has every entry in the order of paths, with its mode and its blocks', async () => {
    const tree = await read()
    expect(tree.entries).toMatchObject([
      { path: '/a', type: 'symlink', target: 'b' },
      { path: '/b', type: 'directory', mode: 0o755 },
      { path: '/b.txt', type: 'file', size: 0, blocks: [], mode: 0o644 },
      { path: '/b/c', type: 'directory', mode: 0o700 },
      { path: '/b/c/f', type: 'file', size: 7, blocks: [sha256(Buffer.from('content'))] },
    ])
    expect([tree.bytes, tree.losses.list, counts]).toEqual([7, [], [1, 2, 3, 4, 5]])
    expect(checked).toEqual([0, 0, 7, 7])
  })
  it('that did not change is known, and none of its files is read', async () => {
    const known = new KnownFiles()
    const first = await read(known)
    checked = []
    const second = await read(known)
    expect(second.entries).toEqual(first.entries)
    expect(second.entries.every((entry, index) => entry === first.entries[index])).toBe(true)
    expect(checked).toEqual([0, 7])
    writeFileSync(at('b/c/f'), 'changed!')
    expect((await read(known)).bytes).toBe(8)
    expect(checked.slice(2)).toEqual([0, 8, 8])
  })
})

it('a file that is cut off each time before it is read is as it was then, and named', async () => {
  writeFileSync(at('f'), Buffer.alloc(5000, 'x'))
  const checkSize = (): void => truncateSync(at('f'), statSync(at('f')).size - 1000)
  const tree = await read(new KnownFiles(), { content: { ...contentOf(), checkSize } })
  // It is read three times.
  expect(tree.entries).toMatchObject([{ path: '/f', size: 2000 }])
  expect(tree.losses.list).toEqual([{ kind: 'changing', count: 1, paths: ['/f'] }])
})

it('a file that is cut off where a block ends has only blocks that hold something', async () => {
  writeFileSync(at('f'), '')
  truncateSync(at('f'), 3 * SNAPSHOT_BLOCK_BYTES)
  const checkSize = (bytes: number): void => {
    if (bytes === statSync(at('f')).size) truncateSync(at('f'), bytes - SNAPSHOT_BLOCK_BYTES)
  }
  const tree = await read(new KnownFiles(), { content: { ...contentOf(), checkSize } })
  expect(tree.entries).toMatchObject([{ path: '/f', size: 0, blocks: [] }])
})

it('a file that grows while it is read is read up to the size that it had', async () => {
  const bytes = SNAPSHOT_BLOCK_BYTES + 10
  writeFileSync(at('f'), '')
  truncateSync(at('f'), bytes)
  const checkSize = (): void => {
    if (statSync(at('f')).size < bytes + 15) appendFileSync(at('f'), 'grown')
  }
  const tree = await read(new KnownFiles(), { content: { ...contentOf(), checkSize } })
  // It is read three times.
  expect(tree.entries).toMatchObject([{ path: '/f', size: bytes + 10 }])
})

it.skipIf(datedDevice(tmpdir()) === undefined)(
  'a directory is listed again unless it changed well before it was listed',
  async () => {
    writeFileSync(at('f'), '')
    const known = new KnownFiles()
    const now = vi.spyOn(Date, 'now')
    const listing = () => known.visit('/').findListing(statSync(root()))
    const { ctimeMs } = statSync(root())
    now.mockReturnValue(ctimeMs)
    await read(known)
    // A later change may have the same time.
    expect(listing()).toBeUndefined()
    now.mockReturnValue(ctimeMs + 10_000)
    await read(known)
    expect(listing()).toHaveLength(1)
  },
)

it('what is known of a file is forgotten with it', async () => {
  for (const name of ['a', 'b']) writeFileSync(at(name), name)
  const known = new KnownFiles()
  await read(known)
  expect(known.visit('/').size).toBe(2)
  rmSync(at('a'))
  await read(known)
  expect(known.visit('/').size).toBe(1)
})

it('other work has its turns while a tree is read', async () => {
  for (let n = 0; n < 20; n += 1) writeFileSync(at(`f${n}`), '')
  expect(await turnsDuring(() => read())).toBeGreaterThanOrEqual(20)
})

describe('what no snapshot holds', () => {
  it('is named', async () => {
    symlinkSync('/etc/passwd', at('out'))
    symlinkSync('a/../b', at('climbs'))
    writeFileSync(Buffer.concat([Buffer.from(at('odd')), Buffer.from([0xff])]), '')
    writeFileSync(at('f'), 'x')
    linkSync(at('f'), at('g'))
    const tree = await read()
    expect(paths(tree)).toEqual(['/f', '/g'])
    expect(tree.losses.list).toEqual([
      { kind: 'link', count: 2, paths: ['/climbs', '/out'] },
      { kind: 'hard-link', count: 1, paths: ['/g'] },
      { kind: 'path', count: 1, paths: ['/odd\ufffd'] },
    ])
    expect(tree.entries[0]).toMatchObject({ blocks: [sha256(Buffer.from('x'))] })
    expect(tree.entries[1]).toMatchObject({ blocks: [sha256(Buffer.from('x'))] })
  })
  it('is what no path can name, too', async () => {
    nest(root(), MAX_PATH_DEPTH)
    const tree = await read()
    expect(paths(tree)).toContain('/d'.repeat(MAX_PATH_DEPTH))
    const below = `${'/d'.repeat(MAX_PATH_DEPTH)}/leaf`
    expect(tree.losses.list).toEqual([{ kind: 'path', count: 1, paths: [below] }])
  })
  it('is named again when it is known', async () => {
    writeFileSync(at('f'), 'x')
    linkSync(at('f'), at('g'))
    const known = new KnownFiles()
    for (let walk = 0; walk < 3; walk += 1) {
      const tree = await read(known)
      expect([paths(tree), tree.losses.list]).toEqual([
        ['/f', '/g'],
        [{ kind: 'hard-link', count: 1, paths: ['/g'] }],
      ])
    }
  })
  it.each([
    ...['EACCES', 'EPERM', 'ETXTBSY', 'EIO', 'EINVAL'].map((code) => [code, 'unreadable']),
    ...['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENODEV'].map((code) => [code, undefined]),
  ])('after %s is %s', async (code = '', kind) => {
    for (const name of ['a', 'b', 'c']) writeFileSync(at(name), name)
    let count = 0
    const content = contentOf()
    const tree = await read(new KnownFiles(), {
      content: {
        ...content,
        checkSize: () => {
          count += 1
          // That of the second file, before it is read.
          if (count === 3) throw systemError(code)
        },
      },
    })
    expect(paths(tree)).toEqual(['/a', '/c'])
    expect(tree.losses.list).toEqual(kind === undefined ? [] : [{ kind, count: 1, paths: ['/b'] }])
  })
  it('for another reason ends the walk', async () => {
    writeFileSync(at('a'), 'a')
    for (const error of [systemError('EMFILE'), new Error('too much')]) {
      const content = contentOf()
      await expect(
        read(undefined, { content: { ...content, checkSize: () => fail(error) } }),
      ).rejects.toBe(error)
    }
  })
})

function fail(error: Error): never {
  throw error
}

describe('bounds', () => {
  it('are met entry by entry', async () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(at(name), 'xx')
    const tooMany = read(undefined, {
      checkCount: (entries) => entries > 2 && fail(new Error('too many')),
    })
    await expect(tooMany).rejects.toThrow('too many')
    const content = {
      ...contentOf(),
      checkSize: (size: number) => size > 5 && fail(new Error('too much')),
    }
    await expect(read(undefined, { content })).rejects.toThrow('too much')
    expect((await read()).bytes).toBe(6)
  })
})

describe('the content of a file', () => {
  it.each([0, 1, 64 * 1024, 64 * 1024 + 1, SNAPSHOT_BLOCK_BYTES, SNAPSHOT_BLOCK_BYTES + 1])(
    'of %d bytes is read in blocks',
    async (size) => {
      const bytes = Buffer.alloc(size, 'abc')
      writeFileSync(at('f'), bytes)
      const start = open()
      const found = await readContent({ directory: start, name: 'f' }, contentOf())
      start.close()
      const blocks = [bytes.subarray(0, SNAPSHOT_BLOCK_BYTES), bytes.subarray(SNAPSHOT_BLOCK_BYTES)]
      expect(found).toMatchObject({
        size,
        isTorn: false,
        blocks: blocks.filter(({ length }) => length > 0).map(sha256),
      })
      expect(checked).toEqual([size])
    },
  )
  it('that changes each time is read three times', async () => {
    writeFileSync(at('f'), 'x')
    const start = open()
    let reads = 0
    const reading = {
      ...contentOf(),
      checkSize: () => {
        reads += 1
        writeFileSync(at('f'), 'x'.repeat(reads + 1))
      },
    }
    const found = await readContent({ directory: start, name: 'f' }, reading)
    start.close()
    expect([found?.isTorn, reads]).toEqual([true, 3])
  })
  it('that changed once is read again', async () => {
    writeFileSync(at('f'), 'x')
    const start = open()
    let reads = 0
    const reading = {
      ...contentOf(),
      checkSize: () => {
        reads += 1
        if (reads === 1) writeFileSync(at('f'), 'xyz')
      },
    }
    const found = await readContent({ directory: start, name: 'f' }, reading)
    start.close()
    expect([found?.isTorn, found?.size, reads]).toEqual([false, 3, 2])
  })
  it('of no file is none, and an abort ends it', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('f'), 'x')
    const start = open()
    expect(await readContent({ directory: start, name: 'd' }, contentOf())).toBeUndefined()
    const stopped = contentOf(AbortSignal.abort(new Error('stopped')))
    const reading = readContent({ directory: start, name: 'f' }, stopped)
    await expect(reading).rejects.toThrow('stopped')
    start.close()
  })
})
