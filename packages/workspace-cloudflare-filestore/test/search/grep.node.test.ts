// How a search goes through the files: what is read together, when others may run, and what an abort ends.
import type { FileSystem, GrepOptions } from '@helix-agents/core/provider'
import { expect, test, vi } from 'vitest'
import { countStatements } from '../counted-storage.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const BLOCK = 65_536
/** No text that every match holds: each file is read. */
const ANY = '[xn]'

async function open(setup: ProviderSetup = {}) {
  const counted = countStatements(new NodeStorage())
  const provider = createProvider(counted.storage, setup)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  /** How many files each statement reads. */
  const batchesOf = async (pattern: string, options?: GrepOptions) => {
    counted.statements.length = 0
    const result = await fs.grep(pattern, options)
    const batches = counted.statements.flatMap((statement) => {
      const marks = /id IN \(([?, ]+)\)/.exec(statement)?.[1]
      return marks === undefined ? [] : [marks.split(',').length]
    })
    return { batches, result }
  }
  return { fs, batchesOf, statements: counted.statements }
}

const nameOf = (index: number): string => `/${String(index).padStart(4, '0')}`

test('reads up to 90 small files together, however many there are', async () => {
  const { fs, batchesOf } = await open()
  for (let n = 0; n < 400; n += 1) await fs.writeFile(nameOf(n), '-')
  expect((await batchesOf(ANY)).batches).toEqual([90, 90, 90, 90, 40])
})

test('reads files together up to a megabyte', async () => {
  const { fs, batchesOf } = await open()
  for (let n = 0; n < 34; n += 1) await fs.writeFile(nameOf(n), '-'.repeat(BLOCK))
  expect((await batchesOf(ANY)).batches).toEqual([16, 16, 2])
})

test('reads no file together that is not wanted, too large, or no text', async () => {
  const { fs, batchesOf } = await open({ maxWholeReadBytes: 10 })
  await fs.writeFile('/a.txt', 'x'.repeat(10))
  await fs.writeFile('/b.txt', 'x'.repeat(11))
  await fs.writeFile('/c.txt', 'x\0')
  await fs.writeFile('/d.txt', '')
  await fs.writeFile('/e.md', 'x')
  const { batches, result } = await batchesOf('x', { includeGlob: '*.txt' })
  expect(batches).toEqual([1])
  expect(result.matches.map(({ path }) => path)).toEqual(['/a.txt'])
  expect(result).toMatchObject({ skippedPaths: ['/b.txt'], skippedBinaryPaths: ['/c.txt'] })
})

test('reads no more once there are as many matches as wanted', async () => {
  const { fs, batchesOf } = await open()
  for (let n = 0; n < 200; n += 1) await fs.writeFile(nameOf(n), 'x')
  const { batches, result } = await batchesOf(ANY, { maxResults: 10 })
  expect([batches, result.matches.length, result.countIsComplete]).toEqual([[90], 10, false])
})

/** Waits until what can run without a turn of the event loop has run. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
}

test.each([
  ['needle', 'in the database'],
  [ANY, 'file by file'],
])('lets others run within 16 MiB, and ends with the signal: %s, %s', async (pattern) => {
  const { fs } = await open()
  for (let n = 0; n < 257; n += 1) await fs.writeFile(nameOf(n), '-'.repeat(BLOCK))
  const abort = new AbortController()
  const searching = fs.grep(pattern, { signal: abort.signal })
  await settled()
  const reason = new Error('enough')
  abort.abort(reason)
  await expect(searching).rejects.toBe(reason)
})

test.each([
  ['little has been read, but much time is over', 40, 100, [ANY]],
  ['16 MiB have been read, and the clock stands still', 257, 0, [ANY, 'needle']],
])('lets others run when %s', async (_, files, msPerLook, patterns) => {
  const { fs } = await open()
  for (let n = 0; n < files; n += 1) await fs.writeFile(nameOf(n), '-'.repeat(BLOCK))
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += msPerLook))
  for (const pattern of patterns) {
    const abort = new AbortController()
    const searching = fs.grep(pattern, { signal: abort.signal })
    await settled()
    abort.abort(new Error('enough'))
    await expect(searching).rejects.toThrow('enough')
  }
})

const turn = () => new Promise((resolve) => setImmediate(resolve, 'turn'))

test('gives every batch its turn when time is always over', async () => {
  const { fs } = await open()
  for (let n = 0; n < 400; n += 1) await fs.writeFile(nameOf(n), '-')
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1000))
  const searching = fs.grep(ANY)
  let turns = 0
  while ((await Promise.race([searching, turn()])) === 'turn') turns += 1
  expect(turns).toBeGreaterThanOrEqual(4)
})

test('does not begin once the signal has come', async () => {
  const { fs, statements } = await open()
  await fs.writeFile('/a', 'x')
  statements.length = 0
  const reason = new Error('enough')
  for (const search of [
    fs.grep('x', { signal: AbortSignal.abort(reason) }),
    fs.glob('*', { signal: AbortSignal.abort(reason) }),
  ]) {
    await expect(search).rejects.toBe(reason)
  }
  expect(statements).toEqual([])
})

test('finds a text in a file and in its copies', async () => {
  const { fs } = await open()
  await fs.writeFile('/a', 'a needle')
  await fs.copy('/a', '/b')
  await fs.copy('/b', '/c')
  for (const pattern of ['needle', '[n]eedle']) {
    const { matches, skippedBinaryPaths } = await fs.grep(pattern)
    expect([matches.map(({ path }) => path), skippedBinaryPaths]).toEqual([['/a', '/b', '/c'], []])
  }
})

test('finds a text in many files as in few, in the order of their paths', async () => {
  const { fs } = await open()
  const paths: string[] = []
  for (const directory of ['/a', '/a-b', '/b/c', '']) {
    for (let n = 0; n < 90; n += 1) {
      const path = `${directory}${nameOf(n)}`
      paths.push(path)
      await fs.writeFile(path, `needle ${n}`)
    }
  }
  await fs.writeFile('/.helix/x', 'needle')
  const found = (await fs.grep('needle', { maxResults: 1000 })).matches.map(({ path }) => path)
  expect(found).toEqual(paths.toSorted())
  const internal = await fs.grep('needle', { path: '/.helix' })
  expect(internal.matches.map(({ path }) => path)).toEqual(['/.helix/x'])
  const below = await fs.grep('needle 7', { path: '/a', maxResults: 1000 })
  expect(below.matches.map(({ path }) => path)).toEqual(
    paths.filter((path) => /^\/a\/0*7\d?$/.test(path)).toSorted(),
  )
})
