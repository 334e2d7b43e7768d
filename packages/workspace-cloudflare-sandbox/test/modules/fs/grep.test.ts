import { FileSystemError } from '@helix-agents/core'
import type { GrepOptions } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import type { DriverFiles, SearchOutcome } from '../../../src/driver/port.ts'
import { grep } from '../../../src/modules/fs/grep.ts'
import { callsOf } from './file-calls.ts'

const MEBIBYTE = 1024 * 1024
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

/** A container in which these are the candidates. @param contents By path; others are gone. */
function over(
  outcome: Partial<SearchOutcome>,
  contents: Readonly<Record<string, string>> = {},
  more: Partial<DriverFiles> = {},
) {
  const read = (path: string): Uint8Array | undefined =>
    contents[path] === undefined ? undefined : bytes(contents[path])
  const calls = callsOf({
    search: async () => ({ paths: [], tooLarge: [], complete: true, ...outcome }),
    readMany: async (paths) =>
      paths.map((path) => {
        const found = read(path)
        return { path, ...(found !== undefined && { bytes: found }) }
      }),
    read: async (path) => {
      const found = read(path)
      if (found === undefined) throw new FileSystemError('not-found', path)
      return found
    },
    ...more,
  })
  const find = (pattern: string, options: GrepOptions = {}) =>
    grep(calls, pattern, { options, maxFileBytes: 20 * MEBIBYTE, maxFiles: 99 })
  const queries = (): unknown[] => calls.made.filter(([name]) => name === 'search')
  return { calls, find, queries }
}

const sizesOf = (made: readonly (readonly unknown[])[]): number[] =>
  made.flatMap(([name, paths]) => (name === 'readMany' ? [(paths as string[]).length] : []))

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => String(n).padStart(5, '0'))

const contentsOf = (count: number): Record<string, string> =>
  Object.fromEntries(names(count).map((name) => [`/workspace/${name}`, 'needle']))

describe('the container is asked', () => {
  const query = { ignoreCase: false, maxFileBytes: 10 * MEBIBYTE, maxFiles: 99 }
  it('for files that hold what every match holds', async () => {
    const { signal } = new AbortController()
    const { calls, find, queries } = over({})
    await find('needle', { signal })
    await find('needle', { path: '/d', maxGrepFileSizeMb: 30 })
    expect(queries()).toEqual([
      ['search', '/workspace', { ...query, literal: 'needle', skip: '.helix', signal }],
      ['search', '/workspace/d', { ...query, literal: 'needle', maxFileBytes: 20 * MEBIBYTE }],
    ])
    expect(calls.paths).toEqual(['/', '/d'])
  })
  it.each([
    ['needle', { ignoreCase: true }],
    ['[ab]', {}],
    ['a\uFFFDb', { mode: 'literal' }],
    ['a\r', { mode: 'literal' }],
    ['\uD800', { mode: 'literal' }],
  ] as const)('for all files when %j with %j says nothing certain', async (pattern, options) => {
    const { find, queries } = over({})
    await find(pattern, options)
    expect(queries()).toEqual([['search', '/workspace', expect.objectContaining({ literal: '' })]])
  })
})

describe('a grep', () => {
  const contents = {
    '/workspace/b': 'needle\nx',
    '/workspace/a': 'x\nneedle',
    '/workspace/.helix/c': 'needle',
  }
  it('finds lines, in the order of paths', async () => {
    const { calls, find } = over({ paths: ['b', 'a', '.helix/c'] }, contents)
    const { matches, countIsComplete } = await find('needle')
    expect(matches.map(({ path, lineNumber }) => [path, lineNumber])).toEqual([
      ['/a', 2],
      ['/b', 1],
    ])
    expect(countIsComplete).toBe(true)
    expect(calls.made.slice(1)).toEqual([
      ['readMany', ['/workspace/a', '/workspace/b'], { maxBytes: 4 * MEBIBYTE }],
    ])
  })
  it('of one file names that', async () => {
    const { find } = over({ paths: [''] }, contents)
    expect((await find('needle', { path: '/b' })).matches).toMatchObject([{ path: '/b' }])
  })
  it('names what it has not searched', async () => {
    const deep = 'x/'.repeat(300)
    const { find } = over(
      { paths: ['bin', 'gone', `${deep}p`], tooLarge: ['large', `${deep}l`, '.helix/l'] },
      { '/workspace/bin': 'needle\0' },
    )
    const found = await find('needle')
    expect(found.skippedPaths).toEqual(['/gone', '/large', `/${deep}l`, `/${deep}p`])
    expect([found.skippedBinaryPaths, found.countIsComplete]).toEqual([['/bin'], false])
    const few = over({ paths: ['bin'], tooLarge: ['large.txt'] }, { '/workspace/bin': 'needle' })
    expect((await few.find('needle', { includeGlob: '*.md' })).skippedPaths).toEqual([])
  })
  it('is not complete when the container stopped early', async () => {
    const { find } = over({ paths: ['a'], complete: false }, contents)
    const found = await find('needle')
    expect([found.matches.length, found.countIsComplete]).toEqual([1, false])
  })
  it('reads each by itself where they do not come together, or one does not', async () => {
    const alone = callsOf({
      search: async () => ({ paths: ['a', 'b'], tooLarge: [], complete: true }),
      read: async (path) => bytes(contents[path as '/workspace/a']),
    })
    const options = { options: {}, maxFileBytes: 9, maxFiles: 9 }
    expect((await grep(alone, 'needle', options)).matches).toHaveLength(2)
    const { calls, find } = over({ paths: ['a', 'b'] }, contents, {
      readMany: async (paths) => paths.map((path) => ({ path })),
    })
    expect((await find('needle')).matches).toHaveLength(2)
    expect(calls.paths).toEqual(['/', '/', '/a', '/b'])
  })
  it('passes on an error that is not about a file', async () => {
    const lost = new Error('lost')
    const { find } = over({ paths: ['a'] }, contents, {
      readMany: async (paths) => paths.map((path) => ({ path })),
      read: () => Promise.reject(lost),
    })
    await expect(find('needle')).rejects.toBe(lost)
  })
})

describe('batches', () => {
  it('grow from 32 files to 512', async () => {
    const { calls, find } = over({ paths: names(1600) }, contentsOf(1600))
    expect((await find('needle', { maxResults: 5000 })).matches).toHaveLength(1600)
    expect(sizesOf(calls.made)).toEqual([32, 64, 128, 256, 512, 512, 96])
  })
  it('end with the last file, and with the match that is one too many', async () => {
    const whole = over({ paths: names(32) }, contentsOf(32))
    await whole.find('needle')
    expect(sizesOf(whole.calls.made)).toEqual([32])
    const few = over({ paths: names(64) }, contentsOf(64))
    const found = await few.find('needle', { maxResults: 2 })
    expect([found.matches.length, found.countIsComplete]).toEqual([2, false])
    expect(sizesOf(few.calls.made)).toEqual([32])
  })
  it('go on where the container stopped', async () => {
    const { calls, find } = over({ paths: names(3) }, contentsOf(3), {
      readMany: async ([path = '']) => [{ path, bytes: bytes('needle') }],
    })
    expect((await find('needle')).matches).toHaveLength(3)
    expect(sizesOf(calls.made)).toEqual([3, 2, 1])
  })
})

it('an abort ends a grep before, between and after its calls', async () => {
  const stopped = new Error('stopped')
  for (const [name, made] of [
    ['before', []],
    ['search', ['search']],
    ['readMany', ['search', 'readMany']],
  ] as const) {
    const abort = new AbortController()
    if (name === 'before') abort.abort(stopped)
    const { calls, find } = over(
      {},
      {},
      {
        search: async () => {
          if (name === 'search') abort.abort(stopped)
          return { paths: ['a'], tooLarge: [], complete: true }
        },
        readMany: async () => {
          abort.abort(stopped)
          // Which would have to be read alone.
          return [{ path: '/workspace/a' }]
        },
      },
    )
    await expect(find('needle', { signal: abort.signal })).rejects.toBe(stopped)
    expect(calls.made.map(([each]) => each)).toEqual(made)
  }
})
