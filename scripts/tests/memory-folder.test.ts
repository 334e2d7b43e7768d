import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryFolder } from './memory-folder.ts'

const MEMORY = '/dev/shm'
const isMemory = (folder: string): boolean => statfsSync(folder).type === 0x01_02_19_94
const hasMemory = existsSync(MEMORY) && isMemory(MEMORY) && freeBytes() >= 4 * 1024 ** 3
/** Greater than the largest number of a process. */
const DEAD = 2 ** 22 + 1
const LONG_AGO = new Date(0)

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize
}

function parentIn(folder: string): string {
  const parent = mkdtempSync(join(folder, 'helix-memory-folder-'))
  folders.push(parent)
  return parent
}

it.skipIf(isMemory(tmpdir()))('is made in memory only', () => {
  const parent = parentIn(tmpdir())
  expect(createMemoryFolder(parent)).toBeUndefined()
  expect(readdirSync(parent)).toEqual([])
  expect(createMemoryFolder(join(parent, 'missing'))).toBeUndefined()
})

it.skipIf(!hasMemory)('has the number of its process, and is gone when that ends', () => {
  const once = vi.spyOn(process, 'once')
  const parent = parentIn(MEMORY)
  const folder = createMemoryFolder(parent)
  expect(folder).toBe(join(parent, `helix-tests-${process.pid}`))
  // The name is taken: nobody else's folder is used.
  expect(createMemoryFolder(parent)).toBeUndefined()
  const [event, end] = once.mock.lastCall ?? []
  if (end === undefined) throw new Error('nothing removes the folder')
  process.off('exit', end)
  end()
  expect([event, readdirSync(parent)]).toEqual(['exit', []])
})

it.skipIf(!hasMemory)('what a killed process has left is removed, and nothing else', () => {
  const once = vi.spyOn(process, 'once')
  const parent = parentIn(MEMORY)
  const kept = [`helix-tests-${process.ppid}`, 'helix-tests-others', 'others']
  for (const name of [`helix-tests-${DEAD}`, ...kept]) {
    mkdirSync(join(parent, name))
    utimesSync(join(parent, name), LONG_AGO, LONG_AGO)
  }
  const young = `helix-tests-${DEAD + 1}`
  mkdirSync(join(parent, young))
  createMemoryFolder(parent)
  process.off('exit', once.mock.lastCall?.[1] ?? (() => undefined))
  expect(readdirSync(parent).toSorted()).toEqual(
    [`helix-tests-${process.pid}`, young, ...kept].toSorted(),
  )
})
