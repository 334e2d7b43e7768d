import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Versions, toFileStat } from '../../src/file-system/version.ts'
import { fstatSync, statSync } from 'node:fs'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const WRITES = new TestSampler().size(2000, 300)
let opened: OpenedFileSystem
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
    expect(versions.unsafeForMs(stats, changedMs + 1)).toBe(24)
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
