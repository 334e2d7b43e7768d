import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { MAX_PATH_BYTES, MAX_PATH_DEPTH, type TransferOptions } from '@helix-agents/core/provider'
import { beforeEach, describe, expect, it } from 'vitest'
import { copyPath, movePath } from '../../src/file-system/transfer.ts'
import { useFileSystem } from '../open-file-system.ts'
import { turnsDuring } from '../slow-machine.ts'

const opened = useFileSystem({ leavesNoDraft: true })
const at = (path: string): string => join(opened().root, path)
const read = (path: string): string => readFileSync(at(path), 'utf8')
const coded = (code: string, path: string) => expect.objectContaining({ code, path })
const copy = (from: string, to: string, options: TransferOptions = {}): Promise<void> =>
  copyPath(opened().fs.context, { from, to, options })
const move = (from: string, to: string, options: TransferOptions = {}): Promise<void> =>
  movePath(opened().fs.context, { from, to, options })

const modeOf = (path: string): number => statSync(at(path)).mode & 0o7777

const nest = (levels: number): unknown => mkdirSync(at('p/'.repeat(levels)), { recursive: true })

beforeEach(() => {
  mkdirSync(at('d/e'), { recursive: true })
  writeFileSync(at('d/f'), 'in d')
  writeFileSync(at('d/e/g'), 'in e')
  writeFileSync(at('f'), 'file')
  symlinkSync('../f', at('d/link'))
  symlinkSync('f', at('l'))
})

describe.each([
  ['a copy', copy, ['d', 'f', 'l']],
  ['a move', move, ['d', 'l']],
])('%s', (_, transfer, left) => {
  it('of a file makes the parents of its target', async () => {
    await transfer('/f', '/new/dir/g')
    expect([read('new/dir/g'), readdirSync(opened().root)]).toEqual([
      'file',
      [...left, 'new'].toSorted(),
    ])
  })
  it('of a tree brings all that is in it, links as links', async () => {
    await transfer('/d', '/new/d')
    expect([read('new/d/f'), read('new/d/e/g')]).toEqual(['in d', 'in e'])
    expect([readlinkSync(at('new/d/link')), readdirSync(at('new/d'))]).toEqual([
      '../f',
      ['e', 'f', 'link'],
    ])
  })
  it('replaces a file when that is wanted', async () => {
    writeFileSync(at('g'), 'old')
    for (const options of [{}, { overwrite: false }]) {
      await expect(transfer('/f', '/g', options)).rejects.toThrow(coded('already-exists', '/g'))
    }
    expect([read('f'), read('g')]).toEqual(['file', 'old'])
    await transfer('/f', '/g', { overwrite: true })
    expect(read('g')).toBe('file')
  })
  it('replaces no directory', async () => {
    for (const [from, to] of [
      ['/f', '/d'],
      ['/d', '/d'],
      ['/d/e', '/d'],
      ['/f', '/'],
    ] as const) {
      const refused = transfer(from, to, { overwrite: true })
      await expect(refused).rejects.toThrow(coded('is-directory', to))
    }
    expect(readdirSync(opened().root)).toEqual(['d', 'f', 'l'])
  })
  it('of nothing is an error', async () => {
    await expect(transfer('/no', '/g')).rejects.toThrow(coded('not-found', '/no'))
    await expect(transfer('/no/no', '/g')).rejects.toThrow(coded('not-found', '/no/no'))
    await expect(transfer('/f', '/f/g')).rejects.toMatchObject({ code: 'not-directory' })
  })
  it('of a tree into itself is refused', async () => {
    for (const to of ['/d/x', '/d/e/x']) {
      await expect(transfer('/d', to)).rejects.toThrow(coded('invalid-path', to))
    }
    await transfer('/d/f', '/df')
    expect(read('df')).toBe('in d')
  })
  it('of a file onto itself changes nothing', async () => {
    const { ino } = statSync(at('f'))
    await transfer('/f', '/f', { overwrite: true })
    expect([read('f'), statSync(at('f')).ino]).toEqual(['file', ino])
  })
})

it('a tree nests no deeper than a path can', async () => {
  nest(MAX_PATH_DEPTH - 1)
  await move('/p', '/pp')
  await move('/pp', '/p')
  nest(MAX_PATH_DEPTH)
  await copy('/p', '/q')
  await expect(move('/p', '/pp')).rejects.toThrow(coded('invalid-path', '/pp'))
  nest(MAX_PATH_DEPTH + 1)
  const deepest = `/r${'/p'.repeat(MAX_PATH_DEPTH)}`
  await expect(copy('/p', '/r')).rejects.toMatchObject({
    path: deepest,
    message: expect.stringContaining('nest deeper than 256 directories'),
  })
  expect(readdirSync(opened().root)).toEqual(['d', 'f', 'l', 'p', 'q'])
})

it('a path in a tree gets no longer than paths may be', async () => {
  const long = `/${'x'.repeat(200)}`.repeat(20)
  const room = MAX_PATH_BYTES - long.length - 1
  for (const transfer of [copy, move]) {
    const to = `${long}/${'y'.repeat(room - '/e/'.length)}`
    await expect(transfer('/d', to)).rejects.toThrow('a path below it would be too long')
  }
  expect(readdirSync(opened().root)).toEqual(['d', 'f', 'l'])
  await copy('/d', `${long}/${'z'.repeat(room - '/link'.length)}`)
  await move('/d', `${long}/${'y'.repeat(room - '/link'.length)}`)
  expect(readdirSync(opened().root)).toEqual(['f', 'l', 'x'.repeat(200)])
})

describe('a link', () => {
  it('is moved as a link, and copied as what it leads to', async () => {
    await copy('/l', '/copied')
    await move('/l', '/d/moved')
    expect(lstatSync(at('copied')).isFile()).toBe(true)
    expect([readlinkSync(at('d/moved')), read('f')]).toEqual(['f', 'file'])
  })
  it('in the way is replaced by a move, and followed by a copy', async () => {
    await copy('/d/f', '/l', { overwrite: true })
    expect([readlinkSync(at('l')), read('f')]).toEqual(['f', 'in d'])
    await move('/d/f', '/l', { overwrite: true })
    expect([lstatSync(at('l')).isFile(), read('l'), read('f')]).toEqual([true, 'in d', 'in d'])
  })
})

describe('permissions', () => {
  it('of a copy are those of its source, without special bits, or of what it replaces', async () => {
    chmodSync(at('f'), 0o6751)
    await copy('/f', '/g')
    expect(modeOf('g')).toBe(0o751)
    chmodSync(at('g'), 0o640)
    await copy('/f', '/g', { overwrite: true })
    expect([modeOf('g'), modeOf('f')]).toEqual([0o640, 0o6751])
    chmodSync(at('d/f'), 0o4755)
    await copy('/d', '/copy')
    expect(modeOf('copy/f')).toBe(0o755)
  })
  it('of what is moved stay', async () => {
    chmodSync(at('f'), 0o751)
    writeFileSync(at('g'), 'old', { mode: 0o600 })
    await move('/f', '/g', { overwrite: true })
    expect(modeOf('g')).toBe(0o751)
  })
})

it('a file is not copied onto itself, by whatever path it is named', async () => {
  const { ino } = statSync(at('f'))
  await copy('/f', '/l', { overwrite: true })
  await copy('/l', '/f', { overwrite: true })
  linkSync(at('f'), at('same'))
  for (const transfer of [copy, move]) await transfer('/f', '/f', { overwrite: true })
  expect([statSync(at('f')).ino, statSync(at('same')).ino, readlinkSync(at('l'))]).toEqual([
    ino,
    ino,
    'f',
  ])
})

it('a target that cannot be made is refused before anything is copied', async () => {
  let restored = 0
  const context = { ...opened().fs.context, restore: () => void (restored += 1) }
  for (const to of ['/f/g', '/../g', '/d']) {
    await expect(copyPath(context, { from: '/f', to, options: {} })).rejects.toThrow(
      expect.objectContaining({ name: 'FileSystemError' }),
    )
  }
  expect(restored).toBe(0)
  await copyPath(context, { from: '/f', to: '/new/g', options: {} })
  expect(restored).toBe(1)
})

it('a large file is whole when its copy is there', async () => {
  const content = Buffer.alloc(9 * 1024 * 1024 + 1, 'abc')
  writeFileSync(at('f'), content)
  await copy('/f', '/g')
  expect(readFileSync(at('g')).equals(content)).toBe(true)
})

it('two names of a file are one when it is moved, and two when it is copied', async () => {
  linkSync(at('f'), at('same'))
  await copy('/f', '/same', { overwrite: true })
  expect([statSync(at('f')).nlink, read('same')]).toEqual([1, 'file'])
})

it('a file over the limit is not copied, also within a tree', async () => {
  const context = { ...opened().fs.context, maxFileBytes: 4 }
  const bounded = (from: string, to: string): Promise<void> =>
    copyPath(context, { from, to, options: {} })
  await bounded('/f', '/four')
  writeFileSync(at('d/f'), '12345')
  await expect(bounded('/d/f', '/five')).rejects.toThrow(coded('too-large', '/d/f'))
  await expect(bounded('/d', '/tree')).rejects.toThrow(coded('too-large', '/d/f'))
  expect(readdirSync(opened().root)).toEqual(['d', 'f', 'four', 'l'])
})

it('other work has its turns while a tree is copied', async () => {
  for (let n = 0; n < 20; n += 1) symlinkSync('f', at(`d/link${n}`))
  expect(await turnsDuring(() => copy('/d', '/copy'))).toBeGreaterThanOrEqual(20)
})

it.each([
  [256 * 1024, false],
  [256 * 1024 + 1, true],
])('a copy of %d bytes gives others a turn: %s', async (bytes, isLater) => {
  writeFileSync(at('f'), Buffer.alloc(bytes))
  let isOver = false
  const running = copy('/f', '/copy').then(() => (isOver = true))
  // No turn of the event loop is among these.
  for (let step = 0; step < 50; step += 1) await Promise.resolve()
  expect(isOver).toBe(!isLater)
  await running
})
