// Long work leaves room for other work. The clock stands still, as in a Worker between two turns:
// then a number of steps stands in for time, and pauses can be counted.
import { compileGlob, sortByCodePoint } from '@helix-agents/core/provider'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DriverEntry } from '../../../src/driver/port.ts'
import { toFileEntries } from '../../../src/modules/fs/entries.ts'
import { glob } from '../../../src/modules/fs/glob.ts'
import { grep } from '../../../src/modules/fs/grep.ts'
import { callsOf, entryOf } from './file-calls.ts'

/** Units of work, of about 20 ns, after which the clock is read; so many readings are a slice. */
const [UNITS, READINGS] = [100_000, 5]

beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(1))
afterEach(() => void vi.restoreAllMocks())

/** How often some work has let others run. */
async function pausesOf(work: () => Promise<unknown>): Promise<number> {
  const paused = vi.spyOn(globalThis, 'setImmediate')
  await work()
  const { length } = paused.mock.calls
  paused.mockRestore()
  return length
}

/** Paths of the same length, sorted. */
const paths = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, n) => String(n).padStart(length, '0'))

const entries = (count: number, length = 6): DriverEntry[] =>
  paths(count, length).map((path) => entryOf(path))

/** Steps up to a pause, when each takes so many units. */
const slice = (units: number): number => READINGS * Math.ceil(UNITS / units)

/** Counts before the first pause, at it, and a while after it. */
async function around(
  first: number,
  countOf: (steps: number) => Promise<number>,
): Promise<readonly number[]> {
  const after = first + first / READINGS
  return [await countOf(first - 1), await countOf(first), await countOf(after)]
}

it('the entries of a directory are made in slices', async () => {
  const counted = await around(slice(50), async (count) => {
    const listed = entries(count)
    const sorting = await pausesOf(() => sortByCodePoint(listed, ({ path }) => path))
    return (await pausesOf(() => toFileEntries('/', listed))) - sorting
  })
  expect(counted).toEqual([0, 1, 1])
})

it('paths are matched by a glob in slices', async () => {
  const length = 499
  const { unitsPerCharacter } = compileGlob('*x*y*')
  const counted = await around(slice((length + 1) * unitsPerCharacter), async (count) => {
    const listed = entries(count, length)
    const calls = callsOf({ list: async () => listed })
    const sorting = await pausesOf(() => sortByCodePoint(listed, ({ path }) => path))
    const options = { options: {}, maxEntries: count }
    return (await pausesOf(() => glob(calls, '*x*y*', options))) - sorting
  })
  expect(counted).toEqual([0, 1, 1])
})

it('paths are chosen for a grep in slices', async () => {
  const length = 499
  const includeGlob = '*x*y*'
  const { unitsPerCharacter } = compileGlob(includeGlob)
  const counted = await around(slice(50 + (length + 1) * unitsPerCharacter), async (count) => {
    const search = async () => ({ paths: paths(count, length), tooLarge: [], complete: true })
    const options = { options: { includeGlob }, maxFileBytes: 9, maxFiles: count }
    return pausesOf(() => grep(callsOf({ search }), 'needle', options))
  })
  expect(counted).toEqual([0, 1, 1])
})

it('a path costs a grep something also where all are chosen', async () => {
  const counted = await around(slice(50), async (count) => {
    const tooLarge = paths(count, 6)
    const search = async () => ({ paths: [], tooLarge, complete: true })
    const sorting = await pausesOf(() => sortByCodePoint(tooLarge, (path) => `/${path}`))
    const options = { options: {}, maxFileBytes: 9, maxFiles: count }
    return (await pausesOf(() => grep(callsOf({ search }), 'needle', options))) - sorting
  })
  expect(counted).toEqual([0, 1, 1])
})

it('files are searched by a grep in slices', async () => {
  const bytes = new Uint8Array([120])
  const countOf = async (count: number): Promise<number> => {
    const calls = callsOf({
      search: async () => ({ paths: paths(count, 4), tooLarge: [], complete: true }),
      readMany: async (wanted) => wanted.map((path) => ({ path, bytes })),
    })
    return pausesOf(() => grep(calls, 'needle', { options: {}, maxFileBytes: 9, maxFiles: count }))
  }
  expect([await countOf(1023), await countOf(1024), await countOf(1025)]).toEqual([0, 1, 1])
})

it('an abort is heard between two files', async () => {
  const abort = new AbortController()
  const stopped = new Error('stopped')
  const calls = callsOf({
    search: async () => ({ paths: ['a', 'b'], tooLarge: [], complete: true }),
    readMany: async (wanted) =>
      wanted.map((path) => ({
        path,
        get bytes() {
          abort.abort(stopped)
          return new Uint8Array([120])
        },
      })),
  })
  const options = { options: { signal: abort.signal }, maxFileBytes: 9, maxFiles: 9 }
  await expect(grep(calls, 'needle', options)).rejects.toBe(stopped)
})

it('an abort is heard between two links of a glob', async () => {
  const abort = new AbortController()
  const stopped = new Error('stopped')
  const calls = callsOf({
    list: async () => ['a', 'b'].map((name) => entryOf(name, 'symlink')),
    stat: async (path) => {
      abort.abort(stopped)
      return entryOf(path)
    },
  })
  const options = { options: { signal: abort.signal }, maxEntries: 9 }
  await expect(glob(calls, '*', options)).rejects.toBe(stopped)
  expect(calls.made.map(([name]) => name)).toEqual(['list', 'stat'])
})
