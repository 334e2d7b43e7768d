import fs, { mkdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openFileSystem } from '../open-file-system.ts'

const LEVELS = 200

/** Counts what the file system asks the system for. */
function countLookUps(): { count: number; readonly paths: unknown[] } {
  const counted = { count: 0, paths: [] as unknown[] }
  const real = fs.lstatSync
  const counting: unknown = (...args: Parameters<typeof real>) => {
    counted.count += 1
    counted.paths.push(args[0])
    return real(...args)
  }
  Reflect.set(fs, 'lstatSync', counting)
  syncBuiltinESMExports()
  onTestFinished(() => {
    Reflect.set(fs, 'lstatSync', real)
    syncBuiltinESMExports()
  })
  return counted
}

test('each level of a deep tree is listed without a look at all those above it', async () => {
  const opened = openFileSystem()
  onTestFinished(() => opened.dispose())
  mkdirSync(join(opened.root, ...Array.from({ length: LEVELS }, () => 'd')), { recursive: true })
  const lookUps = countLookUps()
  let [path, listed] = ['/', 0]
  for (let entries = await opened.fs.ls(path); entries.length > 0; listed += 1) {
    path = entries[0]?.path ?? ''
    entries = await opened.fs.ls(path)
  }
  expect(listed).toBe(LEVELS)
  expect(lookUps.count).toBeLessThan(4 * LEVELS)
})

test('children of a directory are looked up by their path, twice as fast as below its descriptor', async () => {
  const opened = openFileSystem()
  onTestFinished(() => opened.dispose())
  const names = Array.from({ length: 20 }, (_, n) => `f${n}`).toSorted()
  for (const name of names) writeFileSync(join(opened.root, name), name)
  const lookUps = countLookUps()
  const entries = await opened.fs.ls('/')
  expect(entries.map(({ name, size }) => [name, size])).toEqual(
    names.map((name) => [name, name.length]),
  )
  const expected = opened.fs.context.versions.isFine ? names : []
  const byPath = names.filter((name) => lookUps.paths.includes(join(opened.root, name)))
  expect(byPath).toEqual(expected)
})
