import {
  closeSync,
  type Dirent,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { compareCodePoints, createTimeSlice } from '@helix-agents/core/provider'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANCHOR } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { readSorted } from '../../src/file-system/tree/read-sorted.ts'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const GIB = 1024 ** 3
let opened: OpenedFileSystem
beforeEach(() => {
  opened = openFileSystem()
})
afterEach(() => opened.dispose())

/** Takes no room on the disk. */
function sparse(name: string, bytes: number): void {
  const fd = openSync(join(opened.root, name), 'w')
  ftruncateSync(fd, bytes)
  closeSync(fd)
}

describe('a file that is too large to be read at once', () => {
  it.each([0.3, 3, 5000])('of %d GiB is refused by its size', async (gib) => {
    sparse('huge', Math.floor(gib * GIB))
    const refused = { code: 'too-large' }
    await expect(opened.fs.readFile('/huge')).rejects.toMatchObject(refused)
    await expect(opened.fs.readText('/huge')).rejects.toMatchObject(refused)
  })
  it('is read in ranges', async () => {
    sparse('huge', 3 * GIB)
    const stream = await opened.fs.readStream('/huge', { offset: 3 * GIB - 5, length: 100 })
    const bytes = await new Response(stream).bytes()
    expect(bytes).toEqual(new Uint8Array(5))
  })
})

describe('a stream', () => {
  it('leaves timers their turn, and stops when it is aborted', async () => {
    sparse('huge', 100 * GIB)
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 5)
    const stream = await opened.fs.readStream('/huge', { signal: abort.signal })
    const read = async (): Promise<void> => {
      for await (const piece of stream) expect(piece.length).toBeLessThanOrEqual(1024 * 1024)
    }
    await expect(read()).rejects.toThrow(/abort/i)
  })
  it('closes its file when it is cancelled while a piece is read', async () => {
    sparse('file', 1024 * 1024)
    const before = readdirSync('/proc/self/fd').length
    const reader = (await opened.fs.readStream('/file')).getReader()
    const pending = reader.read()
    await reader.cancel()
    await pending
    opened.fs.release()
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBe(before)
  })
})

describe('a directory of very many entries', () => {
  it('is sorted by code points, however it is read', async () => {
    const names = fc.sample(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), 400)
    const many = Array.from({ length: 3000 }, (_, n) => `${'long-name-'.repeat(8)}${n * 7919}`)
    const directory = join(opened.root, 'd')
    mkdirSync(directory)
    for (const name of [...names, ...many]) {
      if (!/[/\0]/.test(name) && name !== '.' && name !== '..' && name.isWellFormed())
        writeFileSync(join(directory, name), '')
    }
    const pinned = PinnedDirectory.open(directory, ANCHOR)
    const sorted = await readSorted(pinned, { slice: createTimeSlice(0) })
    pinned.close()
    const found = sorted.map((child: Dirent) => child.name)
    expect(found.length).toBeGreaterThan(3000)
    expect(found).toEqual(readdirSync(directory).toSorted(compareCodePoints))
  })
})
