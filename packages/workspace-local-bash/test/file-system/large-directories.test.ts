import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTimeSlice } from '@helix-agents/core/provider'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { LARGE_DIRECTORY_BYTES, readSorted } from '../../src/file-system/tree/read-sorted.ts'
import { removeDirectory, removeFile } from '../../src/file-system/tree/remove-entry.ts'
import { walkFiles } from '../../src/file-system/tree/walk-files.ts'
import { openFilesOf } from '../open-files.ts'
import { useSlowMachine } from '../slow-machine.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'helix-large-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** A directory whose own size is that of many entries. */
function largeDirectory(): string {
  const path = join(base, 'large')
  mkdirSync(path)
  for (let i = 0; statSync(path).size <= LARGE_DIRECTORY_BYTES; i += 1)
    writeFileSync(join(path, `${'n'.repeat(240)}${i}`), '')
  return path
}

it('a large directory hears an abort between two slices', async () => {
  const directory = PinnedDirectory.open(largeDirectory(), ANCHOR_NO_LINK)
  const controller = new AbortController()
  const slice = {
    due: true,
    dueAfter: () => true,
    pause: async () => controller.abort(new Error('stop')),
  }
  const reading = readSorted(directory, { slice, signal: controller.signal })
  await expect(reading).rejects.toThrow('stop')
  directory.close()
})

it('a large directory that was read is open no more', async () => {
  const path = largeDirectory()
  const directory = PinnedDirectory.open(path, ANCHOR_NO_LINK)
  await readSorted(directory, { slice: createTimeSlice() })
  directory.close()
  expect(openFilesOf(path)).toBe(0)
})

it('a walk that is aborted in a large directory leaves none open', async () => {
  largeDirectory()
  const start = PinnedDirectory.open(base, ANCHOR_NO_LINK)
  const abort = new AbortController()
  const visitor = { enters: () => true, visit: () => true }
  useSlowMachine()
  const walking = walkFiles(start, visitor, { path: '/', signal: abort.signal })
  abort.abort(new Error('stop'))
  await expect(walking).rejects.toThrow('stop')
  expect(openFilesOf(base)).toBe(0)
})

it('what is large is removed as what is small is', async () => {
  const [directory, file] = [join(base, 'directory'), join(base, 'file')]
  mkdirSync(directory)
  writeFileSync(file, '')
  truncateSync(file, 65 * 1024 * 1024)
  await removeFile(file)
  expect(existsSync(file)).toBe(false)
  await removeDirectory(directory)
  expect(existsSync(directory)).toBe(false)
  const full = removeDirectory(largeDirectory())
  await expect(full).rejects.toMatchObject({ code: 'ENOTEMPTY' })
})
