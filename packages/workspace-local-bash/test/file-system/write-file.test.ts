import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { toBytes, type WriteOptions } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import type { FileContext } from '../../src/file-system/file-context.ts'
import { versionOf } from '../../src/file-system/version.ts'
import { adoptFile, append, writeStreamed, writeWhole } from '../../src/file-system/write-file.ts'
import { useFileSystem } from '../open-file-system.ts'

const SYNC_BYTES = 256 * 1024
const opened = useFileSystem({ leavesNoDraft: true })
const at = (path: string): string => join(opened().root, path)
const scratch = (): string => join(opened().base, 'scratch')
const coded = (code: string, path: string) => expect.objectContaining({ code, path })
/** A file system in which a file has 8 bytes at most. */
const small = (): FileContext => ({ ...opened().fs.context, maxFileBytes: 8 })

type Write = (path: string, text: string, options?: WriteOptions) => Promise<{ version: string }>
const whole: Write = (path, text, options = {}) =>
  writeWhole(opened().fs.context, path, { bytes: toBytes(text), options })
const streamed: Write = (path, text, options = {}) =>
  writeStreamed(opened().fs.context, path, { source: streamOf(text), options })

function streamOf(...pieces: readonly string[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream({
    pull: (controller) => {
      const piece = left.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(toBytes(piece))
    },
  })
}

const aside = (): string => join(opened().outside, 'aside')

const adopt = (path: string, options: WriteOptions = {}): void =>
  adoptFile(opened().fs.context, path, { hostPath: aside(), options })

const add = (path: string, text: string) => append(opened().fs.context, path, toBytes(text))

const zeros = (length: number): Uint8Array => new Uint8Array(length)

const read = (path: string): string => readFileSync(at(path), 'utf8')

describe.each([
  ['a whole write', whole, ''],
  ['a large write', whole, '+'.repeat(SYNC_BYTES)],
  ['a streamed write', streamed, ''],
  ['a stream of a large piece', streamed, '+'.repeat(SYNC_BYTES)],
])('%s', (_, write, filling) => {
  const content = `new${filling}`
  it('makes a file and its parents, and says what it is', async () => {
    const stat = await write('/a/b/c', content)
    expect(read('a/b/c')).toBe(content)
    const stats = statSync(at('a/b/c'), { bigint: true })
    expect(stat).toEqual({
      path: '/a/b/c',
      type: 'file',
      size: content.length,
      mtime: stats.mtime,
      version: versionOf(stats),
    })
  })
  it('replaces a file, also through a link, and keeps its permissions', async () => {
    writeFileSync(at('f'), 'old')
    chmodSync(at('f'), 0o4751)
    linkSync(at('f'), at('other'))
    symlinkSync('f', at('l'))
    await write('/l', content)
    expect([readlinkSync(at('l')), read('f'), read('other')]).toEqual(['f', content, 'old'])
    expect(statSync(at('f')).mode & 0o7777).toBe(0o751)
  })
  it('makes what a dangling link names', async () => {
    symlinkSync('d/f', at('l'))
    await write('/l', content)
    expect(read('d/f')).toBe(content)
  })
  it('goes ahead only while the file is not there', async () => {
    await write('/f', content, { ifAbsent: true })
    const { ino } = statSync(at('f'))
    await expect(write('/f', 'x', { ifAbsent: true })).rejects.toThrow(
      coded('already-exists', '/f'),
    )
    expect([read('f'), statSync(at('f')).ino, statSync(at('f')).nlink]).toEqual([content, ino, 1])
    await write('/f', 'x', { ifAbsent: false })
    expect(read('f')).toBe('x')
  })
  it('goes ahead only with the version that it expects', async () => {
    const first = await write('/f', 'first')
    const second = await write('/f', content, { ifVersion: first.version })
    const stale = write('/f', 'third', { ifVersion: first.version })
    await expect(stale).rejects.toThrow(
      expect.objectContaining({
        code: 'stale-write',
        path: '/f',
        message: expect.stringContaining(`its version is now ${second.version}`) as string,
      }),
    )
    expect(read('f')).toBe(content)
    rmSync(at('f'))
    const gone = write('/f', 'x', { ifVersion: second.version })
    await expect(gone).rejects.toThrow('it was removed')
    await expect(write('/no/f', 'x', { ifVersion: 'v' })).rejects.toThrow('it was removed')
    expect(readdirSync(opened().root)).toEqual([])
  })
  it('is refused for what is no file', async () => {
    mkdirSync(at('d'))
    symlinkSync('d', at('l'))
    symlinkSync('/dev/null', at('null'))
    for (const path of ['/', '/d', '/l']) {
      await expect(write(path, content)).rejects.toThrow(coded('is-directory', path))
    }
    await expect(write('/null', content)).rejects.toThrow(coded('path-escape', '/null'))
    writeFileSync(at('f'), '')
    for (const options of [{}, { ifVersion: 'v' }, { ifAbsent: true }]) {
      const below = write('/f/g', content, options)
      await expect(below).rejects.toThrow(coded('not-directory', '/f/g'))
    }
  })
  it('brings back the place for drafts', async () => {
    rmSync(scratch(), { recursive: true })
    const restore = (): void => mkdirSync(scratch())
    const context = { ...opened().fs.context, restore }
    await writeWhole(context, '/f', { bytes: toBytes(content), options: {} })
    expect(read('f')).toBe(content)
    rmSync(scratch(), { recursive: true })
    const bytes = toBytes(content)
    const kept = { ...context, restore: () => {} }
    await expect(writeWhole(kept, '/g', { bytes, options: {} })).rejects.toThrow(
      coded('not-found', '/g'),
    )
    mkdirSync(scratch())
  })
})

describe('a stream', () => {
  it('is stored in the order of its pieces', async () => {
    const pieces = ['a', 'b'.repeat(SYNC_BYTES + 1), 'c'.repeat(SYNC_BYTES), '']
    const source = streamOf(...pieces)
    await writeStreamed(opened().fs.context, '/f', { source, options: {} })
    expect(readFileSync(at('f'), 'utf8')).toBe(pieces.join(''))
  })
  it('that may not be stored is cancelled with the reason, and none of it is read', async () => {
    writeFileSync(at('f'), 'old')
    const cancelled: unknown[] = []
    const source = new ReadableStream<Uint8Array>(
      {
        pull: () => expect.unreachable(),
        cancel: async (reason) => {
          await new Promise((resolve) => setImmediate(resolve))
          cancelled.push(reason)
        },
      },
      { highWaterMark: 0 },
    )
    const options = { ifAbsent: true }
    const stored = writeStreamed(opened().fs.context, '/f', { source, options })
    await expect(stored).rejects.toThrow(coded('already-exists', '/f'))
    expect(cancelled).toEqual([coded('already-exists', '/f')])
  })
  it('that fails leaves the file as it was', async () => {
    writeFileSync(at('f'), 'old')
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('torn')),
    })
    const stored = writeStreamed(opened().fs.context, '/f', { source, options: {} })
    await expect(stored).rejects.toThrow('torn')
    expect(readFileSync(at('f'), 'utf8')).toBe('old')
  })
  it('that fails says so, also when a command has removed what was written of it', async () => {
    const source = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          for (const name of readdirSync(scratch())) rmSync(join(scratch(), name))
          controller.error(new Error('torn'))
        },
      },
      { highWaterMark: 0 },
    )
    const stored = writeStreamed(opened().fs.context, '/f', { source, options: {} })
    await expect(stored).rejects.toThrow('torn')
  })
})

describe('sizes are bounded', () => {
  it('of whole files and streams', async () => {
    await writeWhole(small(), '/a', { bytes: zeros(8), options: {} })
    const tooLarge = writeWhole(small(), '/b', { bytes: zeros(9), options: {} })
    await expect(tooLarge).rejects.toThrow(coded('too-large', '/b'))
    await writeStreamed(small(), '/c', { source: streamOf('1234', '5678'), options: {} })
    const source = streamOf('1234', '56789')
    const tooLong = writeStreamed(small(), '/d', { source, options: {} })
    await expect(tooLong).rejects.toThrow('9 bytes; the limit is 8')
    expect(readdirSync(opened().root)).toEqual(['a', 'c'])
  })
  it('of files that grow', () => {
    expect(() => append(small(), '/a', zeros(9))).toThrow(coded('too-large', '/a'))
    expect(readdirSync(opened().root)).toEqual([])
    append(small(), '/a', zeros(5))
    append(small(), '/a', zeros(3))
    expect(() => append(small(), '/a', zeros(1))).toThrow('9 bytes; the limit is 8')
    expect(statSync(at('a')).size).toBe(8)
  })
})

describe('an append', () => {
  it('makes a file, or adds to its end', () => {
    const first = add('/d/f', 'one')
    const second = add('/d/f', 'two')
    expect(readFileSync(at('d/f'), 'utf8')).toBe('onetwo')
    expect([first.size, second.size, second.path, second.type]).toEqual([3, 6, '/d/f', 'file'])
    expect(second.version).toBe(versionOf(statSync(at('d/f'), { bigint: true })))
    expect(second.version).not.toBe(first.version)
    expect(add('/d/f', '').version).not.toBe(second.version)
  })
  it('follows links inside, and keeps permissions', () => {
    writeFileSync(at('f'), 'one')
    chmodSync(at('f'), 0o640)
    symlinkSync('f', at('l'))
    add('/l', 'two')
    expect([readFileSync(at('f'), 'utf8'), statSync(at('f')).mode & 0o777]).toEqual([
      'onetwo',
      0o640,
    ])
    expect(lstatSync(at('l')).isSymbolicLink()).toBe(true)
  })
  it('is refused for what is no file', () => {
    mkdirSync(at('d'))
    expect(() => add('/d', 'x')).toThrow(coded('is-directory', '/d'))
    expect(() => add('/', 'x')).toThrow(coded('is-directory', '/'))
  })
  it('that meets a file which was made meanwhile adds to it', () => {
    const { versions } = opened().fs.context
    let isFirst = true
    const racing = {
      stamp: (fd: number): void => {
        if (isFirst) writeFileSync(at('f'), 'theirs ')
        isFirst = false
        versions.stamp(fd)
      },
      ownStat: (...args: Parameters<typeof versions.ownStat>) => versions.ownStat(...args),
    } as typeof versions
    const stat = append({ ...opened().fs.context, versions: racing }, '/f', toBytes('ours'))
    expect([readFileSync(at('f'), 'utf8'), stat.size]).toEqual(['theirs ours', 11])
  })
})

describe('a file that was made aside', () => {
  it('is moved to its path', () => {
    writeFileSync(aside(), 'aside')
    adopt('/d/f')
    expect([readFileSync(at('d/f'), 'utf8'), existsSync(aside())]).toEqual(['aside', false])
    writeFileSync(aside(), 'again')
    adopt('/d/f')
    expect([readFileSync(at('d/f'), 'utf8'), existsSync(aside())]).toEqual(['again', false])
    writeFileSync(aside(), 'new')
    adopt('/d/g', { ifAbsent: true })
    expect([readFileSync(at('d/g'), 'utf8'), existsSync(aside())]).toEqual(['new', false])
  })
  it('stays where it is when it may not', () => {
    writeFileSync(aside(), 'aside')
    writeFileSync(at('f'), 'old')
    expect(() => adopt('/f', { ifAbsent: true })).toThrow(coded('already-exists', '/f'))
    expect(() => adopt('/')).toThrow(coded('is-directory', '/'))
    expect([readFileSync(at('f'), 'utf8'), existsSync(aside())]).toEqual(['old', true])
    rmSync(aside())
    expect(() => adopt('/g')).toThrow(coded('not-found', '/g'))
  })
})

it.each([
  [SYNC_BYTES, false],
  [SYNC_BYTES + 1, true],
])('a write of %d bytes gives others a turn: %s', async (bytes, isLater) => {
  let isOver = false
  const running = writeWhole(opened().fs.context, '/f', { bytes: zeros(bytes), options: {} }).then(
    () => (isOver = true),
  )
  // No turn of the event loop is among these.
  for (let step = 0; step < 50; step += 1) await Promise.resolve()
  expect(isOver).toBe(!isLater)
  await running
})
