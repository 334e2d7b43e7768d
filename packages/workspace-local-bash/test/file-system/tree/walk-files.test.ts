import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_PATH_BYTES } from '@helix-agents/core/provider'
import { expect, it, vi } from 'vitest'
import { ANCHOR_NO_LINK } from '../../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../../src/file-system/path/pinned-directory.ts'
import {
  type FileVisitor,
  MAX_LEVELS,
  walkFiles,
} from '../../../src/file-system/tree/walk-files.ts'
import { useFileSystem } from '../../open-file-system.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)

function make(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(at(file.slice(0, file.lastIndexOf('/') + 1)), { recursive: true })
    writeFileSync(at(file), '')
  }
}

/** What a walk visits, and what it skips. */
async function walk(
  visitor: Partial<FileVisitor> = {},
  path = '/',
  signal?: AbortSignal,
): Promise<string[]> {
  const met: string[] = []
  const start = PinnedDirectory.open(opened().root, ANCHOR_NO_LINK)
  await walkFiles(
    start,
    {
      enters: () => true,
      skip: (directory) => void met.push(`skip ${directory}`),
      ...visitor,
      visit: (file) => {
        met.push(file.kind === 'link' ? `link ${file.relativePath}` : file.relativePath)
        expect(file.relativePath.endsWith(file.name)).toBe(true)
        return visitor.visit?.(file) ?? true
      },
    },
    { path, signal },
  )
  return met
}

const named = (left: number): string => `/${'x'.repeat(MAX_PATH_BYTES - 2 - left)}`

const placed = (levels: number): string => '/d'.repeat(levels)

const visit = (): never => {
  throw new Error('no further')
}

it('files and links come in the order of their paths; links are not followed', async () => {
  make('b/c/z', 'b/a', 'b.txt', 'c')
  symlinkSync('b', at('a'))
  expect(await walk()).toEqual(['link a', 'b.txt', 'b/a', 'b/c/z', 'c'])
})

it('a directory is entered when it is wanted', async () => {
  make('a/x', 'b/a/y', 'b/z')
  const asked: string[] = []
  const enters = (directory: string): boolean => asked.push(directory) < 3
  expect(await walk({ enters })).toEqual(['a/x', 'b/z'].toSorted())
  expect(asked).toEqual(['a', 'b', 'b/a'])
})

it.each([
  ['at once', (goesOn: boolean) => goesOn],
  ['later', (goesOn: boolean) => Promise.resolve(goesOn)],
])('a visit that ends the walk %s is the last one', async (_, answer) => {
  make('a/1', 'a/2', 'a/3', 'b')
  let count = 0
  expect(await walk({ visit: () => answer((count += 1) < 2) })).toEqual(['a/1', 'a/2'])
  expect(await walk({ visit: () => answer(true) })).toEqual(['a/1', 'a/2', 'a/3', 'b'])
})

it('an error of a visit ends the walk, and closes what is open', async () => {
  make('a/b/1')
  await expect(walk({ visit })).rejects.toThrow('no further')
  await expect(walk({ visit: async () => visit() })).rejects.toThrow('no further')
})

it('an abort before the walk ends it', async () => {
  make('a')
  await expect(walk({}, '/', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
})

it('what may not be read holds nothing', async () => {
  make('a/1', 'b')
  if (process.getuid?.() !== 0) chmodSync(at('a'), 0)
  else await opened().fs.rm('/a', { recursive: true })
  expect(await walk()).toEqual(['b'])
  if (process.getuid?.() !== 0) chmodSync(at('a'), 0o700)
})

it('directories nest as deep as a path can; what is deeper is skipped once', async () => {
  make('a/b/f', 'a/c/g', 'a/h')
  expect(await walk({}, placed(MAX_LEVELS - 3))).toEqual(['a/b/f', 'a/c/g', 'a/h'])
  expect(await walk({}, placed(MAX_LEVELS - 2))).toEqual(['skip a', 'a/h'])
  expect(await walk({}, placed(MAX_LEVELS - 1))).toEqual(['skip '])
})

it('names fit into a path up to its last byte; those that do not are skipped once', async () => {
  make('abc', 'éx', 'd/e', 'd/fg')
  expect(await walk({}, named(4))).toEqual(['abc', 'd/e', 'd/fg', 'éx'])
  expect(await walk({}, named(3))).toEqual(['abc', 'd/e', 'skip d', 'éx'])
  expect(await walk({}, named(2))).toEqual(['skip '])
})

it('without a wish to hear of it, what is skipped is just left out', async () => {
  make('abc')
  const start = PinnedDirectory.open(opened().root, ANCHOR_NO_LINK)
  const visitor = { enters: () => true, visit: () => true }
  const place = { path: `/${'x'.repeat(MAX_PATH_BYTES - 3)}`, signal: undefined }
  await expect(walkFiles(start, visitor, place)).resolves.toBeUndefined()
})

it('a directory that cannot be opened for want of something ends the walk', async () => {
  make('a/1', 'b')
  const failure = Object.assign(new Error('too many files are open'), { code: 'EMFILE' })
  vi.spyOn(PinnedDirectory.prototype, 'child').mockImplementation(() => {
    throw failure
  })
  await expect(walk()).rejects.toBe(failure)
})
