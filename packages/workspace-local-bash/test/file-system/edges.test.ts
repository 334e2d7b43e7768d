import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { FileSystemError, PolicyError } from '@helix-agents/core'
import { TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAttributes } from '../../src/file-system/file-attributes.ts'
import { checkSize, type FileContext, ProvenFiles } from '../../src/file-system/file-context.ts'
import {
  errnoOf,
  isMissing,
  specialFile,
  toFileSystemError,
} from '../../src/file-system/map-error.ts'
import { ANCHOR_NO_LINK } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { Versions } from '../../src/file-system/version.ts'
import { openFilesOf } from '../open-files.ts'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

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
const systemError = (code: unknown): Error => Object.assign(new Error(String(code)), { code })
const rejects = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ code })

describe('an error of the system', () => {
  it.each([
    ['not-found', ['ENOENT', 'ESTALE']],
    ['already-exists', ['EEXIST']],
    ['not-directory', ['ENOTDIR']],
    ['is-directory', ['EISDIR']],
    ['not-empty', ['ENOTEMPTY']],
    ['permission-denied', ['EACCES', 'EPERM', 'EBUSY', 'ETXTBSY', 'ENXIO']],
    ['read-only', ['EROFS']],
    ['too-large', ['EFBIG']],
    ['storage-full', ['ENOSPC', 'EDQUOT']],
    ['path-escape', ['EMLINK', 'ELOOP']],
    ['invalid-path', ['ENAMETOOLONG', 'EINVAL', 'EILSEQ']],
  ])('is %s for %j', (code, errnos) => {
    for (const errno of errnos) {
      const cause = systemError(errno)
      const mapped = toFileSystemError(cause, '/a')
      expect(mapped).toMatchObject({ code, path: '/a', cause })
      expect(FileSystemError.isInstance(mapped)).toBe(true)
    }
  })
  it('stays what it is when nothing is known of it', () => {
    const others = [
      systemError('EIO'),
      systemError(7),
      new Error('x'),
      new PolicyError('cross-session', 'x'),
      'x',
    ]
    expect(others.map((error) => toFileSystemError(error, '/a'))).toEqual(others)
    expect(['ENOENT', 7, undefined].map((code) => errnoOf(systemError(code)))).toEqual([
      'ENOENT',
      undefined,
      undefined,
    ])
    expect([errnoOf({ code: 'ENOENT' }), errnoOf(new Error('x'))]).toEqual([undefined, undefined])
    expect(['ENOENT', 'ENOTDIR', 'EACCES'].map((code) => isMissing(systemError(code)))).toEqual([
      true,
      true,
      false,
    ])
    expect(specialFile('/p')).toMatchObject({ code: 'permission-denied', path: '/p' })
    expect(specialFile('/p').message).toContain('it is a pipe, a socket or a device')
  })
})

describe('attributes', () => {
  it('are links and permissions of what is there', async () => {
    const attributes = createAttributes(fs.context)
    writeFileSync(at('f'), '')
    await attributes.writeModes([{ path: '/f', mode: 0o7640 }])
    expect([await attributes.readMode('/f'), statSync(at('f')).mode & 0o7777]).toEqual([
      0o640, 0o640,
    ])
    await attributes.makeLink('/l', 'f')
    expect([await attributes.readLink('/l'), readlinkSync(at('l'))]).toEqual(['f', 'f'])
  })
  it('of what is not there, or no link, are errors', async () => {
    const attributes = createAttributes(fs.context)
    writeFileSync(at('f'), '')
    symlinkSync('f', at('l'))
    await rejects(attributes.readMode('/no'), 'not-found')
    await rejects(attributes.writeModes([{ path: '/no', mode: 0o600 }]), 'not-found')
    await rejects(attributes.writeModes([{ path: '/l', mode: 0o600 }]), 'path-escape')
    await rejects(attributes.readLink('/no'), 'not-found')
    await rejects(attributes.readLink('/f'), 'invalid-path')
    await rejects(attributes.makeLink('/f', 'l'), 'already-exists')
    await expect(attributes.makeLink('/m', '../..')).rejects.toThrow('the link may lead out')
  })
})

it('sizes are bounded, up to the last byte', async () => {
  const [root, scratch] = [opened.root, join(opened.base, 'scratch')]
  const small = new TmpdirFileSystem({ root, scratch, maxFileBytes: 10, restore: () => {} })
  await small.writeFile('/a', '0123456789')
  await small.writeFile('/b', '01234')
  await small.appendFile('/b', '56789')
  await rejects(small.appendFile('/b', 'x'), 'too-large')
  await expect(small.writeStream('/c', new Blob(['0123456789x']).stream())).rejects.toThrow(
    '11 bytes; the limit is 10',
  )
  writeFileSync(at('large'), '0123456789x')
  await rejects(small.copy('/large', '/d'), 'too-large')
  expect(readdirSync(root)).toEqual(['a', 'b', 'large'])
  expect(readdirSync(scratch)).toEqual([])
  const context = { maxFileBytes: 10 } as FileContext
  checkSize(context, '/a', 10)
  expect(() => checkSize(context, '/a', 11)).toThrow('11 bytes; the limit is 10')
})

it('directories are made and removed as asked', async () => {
  await rejects(fs.mkdir('/d/e'), 'not-found')
  await fs.mkdir('/d/e', { recursive: true })
  await fs.mkdir('/d/e', { recursive: true })
  await rejects(fs.mkdir('/d'), 'already-exists')
  writeFileSync(at('f'), '')
  await rejects(fs.mkdir('/f', { recursive: true }), 'already-exists')
  await rejects(fs.mkdir('/f/g', { recursive: true }), 'not-directory')
  await rejects(fs.rm('/d'), 'not-empty')
  await rejects(fs.rm('/no'), 'not-found')
  await rejects(fs.rm('/'), 'not-empty')
  await fs.rm('/d/e')
  await fs.rm('/d', { recursive: true })
  await fs.rm('/', { recursive: true })
  await fs.rm('/')
  expect(readdirSync(opened.root)).toEqual([])
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync('nothing', at('link'))
  expect((await fs.stat('/pipe')).type).toBe('other')
  expect((await fs.ls('/')).map(({ name, type }) => [name, type])).toEqual([
    ['link', 'symlink'],
    ['pipe', 'other'],
  ])
  await rejects(fs.ls('/pipe'), 'not-directory')
})

/** Of a file. */
const statsOf = (ino: number, dev = 1, ctimeNs = 5) =>
  ({ ino: BigInt(ino), dev: BigInt(dev), ctimeNs: BigInt(ctimeNs) }) as Parameters<
    ProvenFiles['add']
  >[0]

it('files are proven on one device, by their change times, and 8,192 of them', () => {
  const off = new ProvenFiles(false)
  off.add(statsOf(1))
  expect(off.has(statsOf(1))).toBe(false)
  const proven = new ProvenFiles(true)
  proven.add(statsOf(0))
  proven.add(statsOf(9, 2))
  expect([proven.has(statsOf(0)), proven.has(statsOf(0, 1, 6)), proven.has(statsOf(0, 2))]).toEqual(
    [true, false, false],
  )
  expect(proven.has(statsOf(9, 2))).toBe(false)
  for (let ino = 1; ino < 8192; ino += 1) proven.add(statsOf(ino))
  expect([proven.has(statsOf(0)), proven.has(statsOf(8191))]).toEqual([true, true])
  proven.add(statsOf(8192))
  expect([proven.has(statsOf(0)), proven.has(statsOf(8192))]).toEqual([false, true])
})

it('of own versions 256 are remembered where times are coarse', () => {
  const versions = new Versions(opened.base, false)
  writeFileSync(at('f'), '')
  const file = statSync(at('f'), { bigint: true })
  const nowMs = Number(file.ctimeMs)
  const own = (n: number) =>
    Object.assign(Object.create(file), { mtimeNs: BigInt(n) }) as typeof file
  for (let n = 0; n < 256; n += 1) versions.ownStat('/f', own(n), file)
  expect([versions.unsafeForMs(own(0), nowMs), versions.unsafeForMs(own(999), nowMs)]).toEqual([
    0, 25,
  ])
  versions.ownStat('/f', own(256), file)
  expect([versions.unsafeForMs(own(0), nowMs), versions.unsafeForMs(own(1), nowMs)]).toEqual([
    25, 0,
  ])
  expect([24, 25, -1].map((ms) => versions.unsafeForMs(own(999), nowMs + ms))).toEqual([1, 0, 0])
  expect(new Versions(opened.base, true).unsafeForMs(own(999), nowMs)).toBe(0)
})

it('a directory is made accessible to its owner, and keeps its other bits', () => {
  mkdirSync(at('d'))
  chmodSync(at('d'), 0o1055)
  const pinned = PinnedDirectory.open(at('d'), ANCHOR_NO_LINK)
  pinned.makeAccessible()
  expect(statSync(at('d')).mode & 0o7777).toBe(0o1755)
  expect([pinned.location(), pinned.at('x')]).toEqual([at('d'), `${pinned.self}/x`])
  pinned.close()
})
