import { FileSystemError } from '@helix-agents/core'
import type { GlobOptions } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import type { DriverEntry } from '../../../src/driver/port.ts'
import { glob, isInternal } from '../../../src/modules/fs/glob.ts'
import { callsOf, entryOf } from './file-calls.ts'

function over(entries: readonly DriverEntry[], stats: Record<string, DriverEntry['type']> = {}) {
  const calls = callsOf({
    list: async () => entries,
    stat: async (path) => {
      const type = stats[path]
      if (type === undefined) throw new FileSystemError('not-found', path)
      return entryOf(path, type)
    },
  })
  const find = (pattern: string, options: GlobOptions = {}): Promise<string[]> =>
    glob(calls, pattern, { options, maxEntries: 9 })
  return { calls, find }
}

const tree = [
  entryOf('b.ts'),
  entryOf('a/c.ts'),
  entryOf('a', 'directory'),
  entryOf('a.ts', 'other'),
  entryOf('.helix/x.ts'),
]

describe('a glob', () => {
  it('gives the files of one listing, sorted', async () => {
    const { calls, find } = over(tree)
    const { signal } = new AbortController()
    expect(await find('**', { signal })).toEqual(['/a/c.ts', '/b.ts'])
    const options = { recursive: true, maxEntries: 9, skip: '.helix', signal }
    expect([calls.made, calls.paths]).toEqual([[['list', '/workspace', options]], ['/']])
  })
  it('below a directory has paths below it, also in the directory of the framework', async () => {
    const { calls, find } = over([entryOf('x'), entryOf('.helix/y')])
    expect(await find('**', { path: '/.helix' })).toEqual(['/.helix/.helix/y', '/.helix/x'])
    expect(calls.made).toEqual([['list', '/workspace/.helix', { recursive: true, maxEntries: 9 }]])
  })
  it('counts a link to a file as a file', async () => {
    const links = ['file', 'directory', 'gone'].map((name) => entryOf(name, 'symlink'))
    const { calls, find } = over(links, {
      '/workspace/file': 'file',
      '/workspace/directory': 'directory',
    })
    expect(await find('*')).toEqual(['/file'])
    expect(calls.paths).toEqual(['/', '/directory', '/file', '/gone'])
  })
  it('passes on what is no word about a link', async () => {
    const lost = new Error('lost')
    const calls = callsOf({
      list: async () => [entryOf('l', 'symlink')],
      stat: () => Promise.reject(lost),
    })
    await expect(glob(calls, '*', { options: {}, maxEntries: 9 })).rejects.toBe(lost)
  })
  it('ends at its limit', async () => {
    const { find } = over(['a', 'b', 'c'].map((name) => entryOf(name)))
    expect([
      await find('*', { limit: 0 }),
      await find('*', { limit: 2 }),
      await find('*', { limit: 3 }),
    ]).toEqual([[], ['/a', '/b'], ['/a', '/b', '/c']])
  })
  it('leaves out what no path can name', async () => {
    const fits = 'x'.repeat(4094)
    const { find } = over([entryOf(`${fits}y`), entryOf(fits), entryOf('x/'.repeat(300))])
    expect((await find('**')).map(({ length }) => length)).toEqual([4095, 4096])
  })
  it('hears an abort, before and after the listing', async () => {
    const abort = new AbortController()
    const { signal } = abort
    const calls = callsOf({
      list: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        abort.abort(new Error('stopped'))
        return []
      },
    })
    const search = () => glob(calls, '*', { options: { signal }, maxEntries: 9 })
    await expect(search()).rejects.toThrow('stopped')
    await expect(search()).rejects.toThrow('stopped')
    expect(calls.made).toHaveLength(1)
  })
})

it('internal is what lies in the directory of the framework', () => {
  expect(['.helix', '.helix/a', '.helixes', 'a/.helix', ''].map(isInternal)).toMatchObject({
    0: true,
    1: true,
    2: false,
    3: false,
    4: false,
  })
})
