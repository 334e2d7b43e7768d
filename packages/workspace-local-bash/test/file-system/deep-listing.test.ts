import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { beforeFsCall } from '../before-fs-call.ts'
import { openFileSystem } from '../open-file-system.ts'

const LEVELS = 200

/** The paths of which the file system asks the system. */
function lookUpPaths(): unknown[] {
  const paths: unknown[] = []
  beforeFsCall('lstatSync', (path) => paths.push(path))
  return paths
}

test('each level of a deep tree is listed without a look at all those above it', async () => {
  const opened = openFileSystem()
  onTestFinished(() => opened.dispose())
  mkdirSync(join(opened.root, ...Array.from({ length: LEVELS }, () => 'd')), { recursive: true })
  const lookUps = lookUpPaths()
  let [path, listed] = ['/', 0]
  for (let entries = await opened.fs.ls(path); entries.length > 0; listed += 1) {
    path = entries[0]?.path ?? ''
    entries = await opened.fs.ls(path)
  }
  expect(listed).toBe(LEVELS)
  expect(lookUps.length).toBeLessThan(4 * LEVELS)
})

test('children of a directory are looked up by their path, twice as fast as below its descriptor', async () => {
  const opened = openFileSystem()
  onTestFinished(() => opened.dispose())
  const names = Array.from({ length: 20 }, (_, n) => `f${n}`).toSorted()
  for (const name of names) writeFileSync(join(opened.root, name), name)
  const lookUps = lookUpPaths()
  const entries = await opened.fs.ls('/')
  expect(entries.map(({ name, size }) => [name, size])).toEqual(
    names.map((name) => [name, name.length]),
  )
  const expected = opened.fs.context.versions.isFine ? names : []
  const byPath = names.filter((name) => lookUps.includes(join(opened.root, name)))
  expect(byPath).toEqual(expected)
})
