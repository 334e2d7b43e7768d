import { beforeEach, expect, test } from 'vitest'
import type { FileStat } from '../../../../src/modules/fs/contract.ts'
import { fingerprint } from '../../../../src/modules/fs/versions/fingerprint.ts'
import { MapFileSystem } from '../map-file-system.ts'

const MB = 1_048_576

let fs: MapFileSystem
beforeEach(() => {
  fs = new MapFileSystem()
})

test('nothing has none', async () => {
  expect(await fingerprint(fs, '/gone')).toBeNull()
})

test('a file counts by its bytes', async () => {
  await fs.writeFile('/a', 'abc')
  expect(await fingerprint(fs, '/a')).toBe(
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

test.each<[string, Partial<FileStat>, string]>([
  ['a file of 10 MiB', { size: 10 * MB }, 'sha256:'],
  ['a larger file', { size: 10 * MB + 1 }, 'version:v7'],
  ['what is no file', { type: 'symlink', size: 3 }, 'version:v7'],
])('%s starts with its kind', async (_, known, start) => {
  await fs.writeFile('/a', 'abc')
  const stat = async (path: string): Promise<FileStat> => ({
    ...(await MapFileSystem.prototype.stat.call(fs, path)),
    ...known,
    version: 'v7',
  })
  const told = await fingerprint(Object.assign(fs, { stat }), '/a')
  expect(told?.slice(0, start.length)).toBe(start)
})

test('a directory counts by the names, kinds and sizes below it, in any order', async () => {
  for (const path of ['/d/b', '/d/a', '/beside']) await fs.writeFile(path, 'one')
  const before = await fingerprint(fs, '/d')
  expect(before).toMatch(/^tree:[0-9a-f]{64}$/u)
  await fs.writeFile('/d/a', 'two')
  await fs.writeFile('/beside', 'longer')
  expect(await fingerprint(fs, '/d')).toBe(before)
  const other = new MapFileSystem()
  for (const path of ['/d/a', '/d/b']) await other.writeFile(path, 'two')
  expect(await fingerprint(other, '/d')).toBe(before)
  await fs.writeFile('/d/a', 'longer')
  expect(await fingerprint(fs, '/d')).not.toBe(before)
})

test('the first ten thousand entries count', async () => {
  const entries = Array.from({ length: 10_000 }, (_, i) => ({
    name: `f${i}`,
    path: `/d/f${i}`,
    type: 'file' as const,
    size: 1,
  }))
  await fs.writeFile('/d/f0', 'x')
  const listed = (names: number): Promise<string | null> =>
    fingerprint(Object.assign(fs, { ls: async () => entries.slice(0, names) }), '/d')
  const whole = await listed(10_000)
  // The directory itself is the first entry.
  expect(await listed(9999)).toBe(whole)
  expect(await listed(9998)).not.toBe(whole)
})

test('walking a directory ends with its signal', async () => {
  await fs.writeFile('/d/a', 'one')
  await expect(fingerprint(fs, '/d', AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
})
