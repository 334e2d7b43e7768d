import { getEventListeners } from 'node:events'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { beforeFsCall } from '../before-fs-call.ts'
import { openFilesOf } from '../open-files.ts'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const SYNC_BYTES = 256 * 1024
let opened: OpenedFileSystem
let fs: TmpdirFileSystem
beforeEach(() => {
  opened = openFileSystem()
  fs = opened.fs
})
afterEach(() => {
  const left = openFilesOf(opened.base)
  opened.dispose()
  if (left > 0) throw new Error(`${left} files are left open`)
})

const at = (path: string): string => join(opened.root, path)
const rejects = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ code })

describe('reading', () => {
  it.each([0, 1, SYNC_BYTES, SYNC_BYTES + 1])('%d bytes gives them all', async (size) => {
    writeFileSync(at('f'), 'x'.repeat(size))
    expect((await fs.readFile('/f')).length).toBe(size)
    expect((await fs.readText('/f')).length).toBe(size)
    expect(await new Response(await fs.readStream('/f')).text()).toBe('x'.repeat(size))
  })
  it('a file that shrinks meanwhile gives what was there', async () => {
    const mebibyte = 1024 * 1024
    writeFileSync(at('f'), '')
    truncateSync(at('f'), 9 * mebibyte)
    const reading = fs.readFile('/f')
    truncateSync(at('f'), 0)
    expect((await reading).length).toBeLessThanOrEqual(8 * mebibyte)
  })
  it.each(['readFile', 'readText'] as const)(
    'a small file that shrinks meanwhile gives %s what is left, and nothing of our memory',
    async (call) => {
      writeFileSync(at('f'), 'x'.repeat(1000))
      beforeFsCall('readSync', () => truncateSync(at('f'), 3))
      expect(Buffer.from(await fs[call]('/f')).toString()).toBe('xxx')
    },
  )
  it('a stream of a file that shrinks meanwhile ends there', async () => {
    writeFileSync(at('f'), 'x'.repeat(200_000))
    const reader = (await fs.readStream('/f')).getReader()
    expect((await reader.read()).value?.length).toBe(64 * 1024)
    truncateSync(at('f'), 70_000)
    expect((await reader.read()).value?.length).toBe(70_000 - 64 * 1024)
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })
  it.each([
    [{ offset: 3 }, '3456789'],
    [{ offset: -3 }, '0123456789'],
    [{ offset: 20 }, ''],
    [{ offset: 3, length: 2 }, '34'],
    [{ offset: 8, length: 9 }, '89'],
    [{ offset: 3, length: 0 }, ''],
    [{ offset: 3, length: -1 }, ''],
    [{ length: 4 }, '0123'],
  ])('a stream with %j gives %j', async (range, expected) => {
    writeFileSync(at('f'), '0123456789')
    expect(await new Response(await fs.readStream('/f', range)).text()).toBe(expected)
  })
  it('a stream hears an abort, before and while it is read', async () => {
    writeFileSync(at('f'), 'x'.repeat(200_000))
    const aborted = { signal: AbortSignal.abort(new Error('too late')) }
    await expect(fs.readStream('/f', aborted)).rejects.toThrow('too late')
    const abort = new AbortController()
    const reader = (await fs.readStream('/f', { signal: abort.signal })).getReader()
    await reader.read()
    abort.abort(new Error('stopped'))
    expect(openFilesOf(opened.base)).toBe(0)
    await expect(reader.read()).rejects.toThrow('stopped')
  })
  it('a stream that is over is no concern of the signal of its caller', async () => {
    writeFileSync(at('f'), 'x')
    const { signal } = new AbortController()
    const [one, two] = [
      await fs.readStream('/f', { signal }),
      await fs.readStream('/f', { signal }),
    ]
    expect(getEventListeners(signal, 'abort')).toHaveLength(2)
    expect(await new Response(one).text()).toBe('x')
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await two.cancel()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
  it('a stream that is cancelled or left closes its file', async () => {
    writeFileSync(at('f'), 'x'.repeat(200_000))
    const stream = await fs.readStream('/f', { signal: new AbortController().signal })
    expect(openFilesOf(opened.base)).toBe(1)
    await stream.cancel()
    expect(openFilesOf(opened.base)).toBe(0)
    await fs.readStream('/f')
    await fs.readStream('/f')
    fs.release()
    expect(openFilesOf(opened.base)).toBe(0)
  })
})

describe('searching', () => {
  it('finds none when none are wanted', async () => {
    writeFileSync(at('f'), 'x')
    expect(await fs.glob('**', { limit: 0 })).toEqual([])
    expect(await fs.glob('**', { limit: 1 })).toEqual(['/f'])
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(fs.glob('**', { signal })).rejects.toThrow('stopped')
    await expect(fs.grep('x', { signal })).rejects.toThrow('stopped')
    await rejects(fs.glob('**', { path: '/f' }), 'not-directory')
    await rejects(fs.grep('x', { path: '/no' }), 'not-found')
  })
  it('reads a whole file up to the limit, and names one that is larger', async () => {
    const limit = 2 * 1024 * 1024
    const options = { maxGrepFileSizeMb: 2 }
    writeFileSync(at('most'), `${'\n'.repeat(limit - 6)}needle`)
    writeFileSync(at('over'), `needle${'\n'.repeat(limit - 5)}`)
    writeFileSync(at('binary'), 'needle\0')
    const found = await fs.grep('needle', options)
    expect(found.matches.map(({ path }) => path)).toEqual(['/most'])
    expect(found.skippedPaths).toEqual(['/over'])
    const alone = await fs.grep('needle', { ...options, path: '/most' })
    expect(alone.matches).toHaveLength(1)
  })
})

describe('copies and moves', () => {
  it.each([SYNC_BYTES, SYNC_BYTES + 1])('of %d bytes keep mode and content', async (size) => {
    writeFileSync(at('f'), 'x'.repeat(size))
    chmodSync(at('f'), 0o4755)
    await fs.copy('/f', '/g')
    expect([statSync(at('g')).mode & 0o7777, readFileSync(at('g'), 'utf8').length]).toEqual([
      0o755,
      size,
    ])
    expect(readdirSync(join(opened.base, 'scratch'))).toEqual([])
  })
  it('onto what is there take its mode, and only when that is wanted', async () => {
    writeFileSync(at('f'), 'new')
    writeFileSync(at('g'), 'old', { mode: 0o640 })
    await rejects(fs.copy('/f', '/g'), 'already-exists')
    await fs.copy('/f', '/g', { overwrite: true })
    expect([readFileSync(at('g'), 'utf8'), statSync(at('g')).mode & 0o777]).toEqual(['new', 0o640])
    await fs.move('/f', '/g', { overwrite: true })
    expect([readdirSync(opened.root), statSync(at('g')).mode & 0o777]).toEqual([['g'], 0o644])
  })
  it('onto itself change nothing', async () => {
    writeFileSync(at('f'), 'same')
    const { ino } = statSync(at('f'))
    await fs.copy('/f', '/f', { overwrite: true })
    await fs.move('/f', '/f', { overwrite: true })
    expect([readFileSync(at('f'), 'utf8'), statSync(at('f')).ino]).toEqual(['same', ino])
    linkSync(at('f'), at('g'))
    await fs.copy('/f', '/g', { overwrite: true })
    expect(statSync(at('g')).ino).not.toBe(ino)
  })
  it('into themselves, and onto directories, are refused', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('f'), 'x')
    for (const call of ['copy', 'move'] as const) {
      await expect(fs[call]('/d', '/d/e')).rejects.toThrow('it lies in what it is made from')
      await rejects(fs[call]('/f', '/d', { overwrite: true }), 'is-directory')
      await rejects(fs[call]('/no', '/g'), 'not-found')
    }
    expect(readdirSync(opened.root)).toEqual(['d', 'f'])
  })
})
