import {
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Versions, toFileStat } from '../../src/file-system/version.ts'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const WRITES = new TestSampler().size(2000, 300)
let opened: OpenedFileSystem
const microsOf = (fd: number): bigint => fstatSync(fd, { bigint: true }).mtimeNs / 1000n

beforeEach(() => {
  opened = openFileSystem()
})
afterEach(() => opened.dispose())

describe('versions', () => {
  it('differ after every own write, also of the same content', async () => {
    const versions = new Set<string>()
    for (let i = 0; i < WRITES; i += 1) {
      versions.add((await opened.fs.writeFile('/a', i % 2 === 0 ? 'x' : 'y')).version)
    }
    expect(versions.size).toBe(WRITES)
  })
  it('differ after every change by a command, also of the same size in place', async () => {
    const path = join(opened.root, 'a')
    writeFileSync(path, 'x')
    const fd = openSync(path, 'r+')
    const versions = new Set<string>()
    for (let i = 0; i < 300; i += 1) {
      writeSync(fd, i % 2 === 0 ? 'x' : 'y', 0)
      versions.add((await opened.fs.stat('/a')).version)
    }
    closeSync(fd)
    expect(versions.size).toBe(300)
  })
  it('returned by a write are those of stat', async () => {
    for (const data of ['small', 'x'.repeat(300_000)]) {
      const written = await opened.fs.writeFile('/a', data)
      expect(await opened.fs.stat('/a')).toEqual(written)
      expect(await opened.fs.appendFile('/a', '+')).toEqual(await opened.fs.stat('/a'))
    }
  })
  it('returned by a write no longer match when somebody else was faster', () => {
    const versions = new Versions(join(opened.base, 'scratch'))
    const path = join(opened.root, 'a')
    const fd = openSync(path, 'w+')
    writeSync(fd, 'own')
    versions.stamp(fd)
    const written = fstatSync(fd, { bigint: true })
    ftruncateSync(fd, 0)
    const { version } = versions.ownStat('/a', written, fstatSync(fd, { bigint: true }))
    closeSync(fd)
    expect(toFileStat('/a', statSync(path, { bigint: true })).version).not.toBe(version)
  })
})

describe('where the file system has coarse times', () => {
  it('a version is held back until the tick of a foreign change is over', () => {
    const versions = new Versions(join(opened.base, 'scratch'), false)
    const path = join(opened.root, 'a')
    writeFileSync(path, 'x')
    const stats = statSync(path, { bigint: true })
    const changedMs = Number(stats.ctimeMs)
    expect(versions.unsafeForMs(stats, changedMs)).toBe(25)
    expect(versions.unsafeForMs(stats, changedMs + 1)).toBe(24)
    expect(versions.unsafeForMs(stats, changedMs - 1)).toBe(0)
    expect(versions.unsafeForMs(stats, changedMs + 25)).toBe(0)
  })
  it('an own write needs no wait, having a time of its own', () => {
    const versions = new Versions(join(opened.base, 'scratch'), false)
    const path = join(opened.root, 'a')
    const fd = openSync(path, 'w+')
    versions.stamp(fd)
    const stats = fstatSync(fd, { bigint: true })
    versions.ownStat('/a', stats, stats)
    expect(versions.unsafeForMs(stats, Number(stats.ctimeMs))).toBe(0)
    closeSync(fd)
  })
})

describe('the time of an own write', () => {
  it('is that of the clock, and one microsecond later than the last in the same millisecond', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_123 })
    onTestFinished(() => void vi.useRealTimers())
    const versions = new Versions(join(opened.base, 'scratch'))
    const fd = openSync(join(opened.root, 'a'), 'w+')
    const times = Array.from({ length: 20 }, () => {
      versions.stamp(fd)
      return microsOf(fd)
    })
    vi.setSystemTime(1_700_000_000_124)
    versions.stamp(fd)
    expect([...times, microsOf(fd)]).toEqual([
      ...times.map((_, n) => 1_700_000_000_123_000n + BigInt(n)),
      1_700_000_000_124_000n,
    ])
    vi.setSystemTime(1_600_000_000_000)
    versions.stamp(fd)
    expect(microsOf(fd)).toBe(1_700_000_000_124_001n)
    closeSync(fd)
  })
})

it('the state of a link or a directory is that of its kind', () => {
  mkdirSync(join(opened.root, 'd'))
  symlinkSync('d', join(opened.root, 'l'))
  const stats = ['d', 'l', '.'].map((name) => lstatSync(join(opened.root, name), { bigint: true }))
  expect(stats.map((each) => toFileStat('/x', each)).map(({ type, size }) => [type, size])).toEqual(
    [
      ['directory', 0],
      ['symlink', 1],
      ['directory', 0],
    ],
  )
})
