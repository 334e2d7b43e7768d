import type { FileEntry, ReadAheadOptions } from '@helix-agents/core/provider'
import { beforeEach, expect, test } from 'vitest'
import type { DriverEntry, DriverFile, DriverFiles, DriverMode } from '../../../src/driver/port.ts'
import type { FileCalls } from '../../../src/lifecycle/live-sandbox.ts'
import { describePaths, readAhead } from '../../../src/modules/fs/read-ahead.ts'

const KiB = 1024
const MiB = 1024 * KiB

interface Held {
  readonly type: DriverEntry['type']
  readonly size: number
  readonly version: string
}

let held: Map<string, Held>
let made: unknown[][]
/** Run around each reading of files. */
let beforeRead: () => void
let afterRead: () => void
let canRead: boolean
beforeEach(() => {
  held = new Map()
  made = []
  beforeRead = () => {}
  afterRead = () => {}
  canRead = true
})

function statusOf(path: string): (DriverEntry & DriverMode) | undefined {
  const { type, size, version } = held.get(path) ?? {}
  if (type === undefined || size === undefined || version === undefined) return undefined
  return { path, type, sizeBytes: size, modifiedAtMs: 5, version, mode: 0o640 }
}

/** As much as fits; of a file that is larger alone, nothing. */
function contentsOf(paths: readonly string[], maxBytes: number): readonly DriverFile[] {
  const files: DriverFile[] = []
  let left = maxBytes
  for (const path of paths) {
    const size = held.get(path)?.size ?? 0
    if (size > left && files.length > 0) return files
    left -= size
    files.push(held.has(path) ? { path, bytes: new Uint8Array(size) } : { path })
  }
  return files
}

const sandbox: FileCalls = {
  call: () => Promise.reject(new Error('not asked for')),
  callFile: async (_, run) =>
    run({
      files: {
        attributes: {
          statMany: async (paths: readonly string[], signal?: AbortSignal) => {
            made.push(['statMany', paths.length, signal])
            return paths.map(statusOf)
          },
        },
        ...(canRead && {
          readMany: async (
            paths: readonly string[],
            { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
          ) => {
            made.push(['readMany', paths.length, signal])
            beforeRead()
            const contents = contentsOf(paths, Math.min(maxBytes, MiB))
            afterRead()
            return contents
          },
        }),
      } as unknown as DriverFiles,
    }),
}

function add(name: string, size = 3, type: FileEntry['type'] = 'file', version = 'v'): void {
  held.set(`/workspace/${name}`, { type, size, version })
}

async function ahead(options: Partial<ReadAheadOptions> = {}) {
  const entries = [...held].map(([path, { type }]) => {
    const own = path.slice('/workspace'.length)
    return { name: own.slice(1), path: own, type }
  })
  const found = await readAhead(sandbox, entries, { isKnown: () => false, ...options })
  return new Map([...found].map(([path, { bytes }]) => [path, bytes?.length]))
}

test('files are described, read and described again, directories only described', async () => {
  add('a')
  add('d', 0, 'directory')
  add('l', 1, 'symlink')
  const { signal } = new AbortController()
  expect(await ahead({ signal })).toEqual(
    new Map([
      ['/a', 3],
      ['/d', undefined],
    ]),
  )
  expect(made).toEqual([
    ['statMany', 2, signal],
    ['readMany', 1, signal],
    ['statMany', 1, signal],
  ])
})

test('what is said of a path is what the container says, by its path in the workspace', async () => {
  add('d/a')
  expect(await describePaths(sandbox, ['/d/a', '/none'])).toEqual(
    new Map([
      [
        '/d/a',
        {
          stat: { path: '/d/a', type: 'file', size: 3, mtime: new Date(5), version: 'v' },
          mode: 0o640,
        },
      ],
    ]),
  )
})

test('nothing is asked about nothing', async () => {
  expect(await ahead()).toEqual(new Map())
  expect(made).toEqual([])
})

test('what is known is not read, and neither is a large file', async () => {
  add('known')
  add('large', 256 * KiB + 1)
  add('small', 256 * KiB)
  const found = await ahead({ isKnown: ({ path }) => path === '/known' })
  expect(found).toEqual(
    new Map([
      ['/known', undefined],
      ['/large', undefined],
      ['/small', 256 * KiB],
    ]),
  )
})

test('at most 8 MiB are read, in as many calls as it takes', async () => {
  for (let index = 0; index < 40; index += 1) add(`${index}`, 256 * KiB)
  add('z', 1)
  const sizes = [...(await ahead()).values()]
  expect(sizes.filter((size) => size !== undefined)).toHaveLength(32)
  expect(made.map(([call, count]) => [call, count])).toEqual([
    ['statMany', 41],
    ...[32, 28, 24, 20, 16, 12, 8, 4].map((count) => ['readMany', count]),
    ['statMany', 32],
  ])
})

test('a file that changes or goes away meanwhile is left out', async () => {
  for (const name of ['changed', 'gone', 'same']) add(name)
  afterRead = () => {
    add('changed', 3, 'file', 'w')
    held.delete('/workspace/gone')
  }
  expect(await ahead()).toEqual(new Map([['/same', 3]]))
})

test('where many files cannot be read in one call, they are only described', async () => {
  add('a')
  canRead = false
  expect(await ahead()).toEqual(new Map([['/a', undefined]]))
  canRead = true
  beforeRead = () => held.clear()
  add('b')
  expect(await ahead()).toEqual(
    new Map([
      ['/a', undefined],
      ['/b', undefined],
    ]),
  )
})
