import {
  closeSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import {
  Containment,
  type ContainmentOptions,
  openAt,
} from '../../../src/file-system/path/containment.ts'
import { ANCHOR_NO_LINK, READ } from '../../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../../src/file-system/path/pinned-directory.ts'
import { useFileSystem } from '../../open-file-system.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)
const coded = (code: string, path: string) => expect.objectContaining({ code, path })
let restored = 0
let containment: Containment

const create = (more: Partial<ContainmentOptions> = {}): Containment =>
  new Containment({
    root: realpathSync(opened().root),
    shellRoot: '/workspace',
    restoreRoot: () => {
      restored += 1
      mkdirSync(opened().root, { recursive: true })
    },
    ...more,
  })
const real = (path: string, followLast = true): string => containment.realPath(path, followLast)

beforeEach(() => {
  restored = 0
  containment = create()
  mkdirSync(at('a/b'), { recursive: true })
  writeFileSync(at('a/file'), 'x')
  symlinkSync('a', at('link'))
  symlinkSync('/workspace/a', at('shell'))
  symlinkSync(opened().outside, at('out'))
})

function locationOf(path: string, by = containment): string {
  const directory = by.openDirectory(path)
  const location = directory.location().slice(by.root.length) || '/'
  directory.close()
  return location
}

function located(path: string, followLast = true, createParents = false) {
  const { directory, name, stats } = containment.locate(path, { followLast, createParents })
  const place = directory.location().slice(containment.root.length) || '/'
  directory.close()
  return [place, name, stats?.isSymbolicLink() ? 'link' : stats?.isFile()]
}

it('paths are below the root', () => {
  expect(containment.hostPath('/')).toBe(containment.root)
  expect(containment.hostPath('/a/b')).toBe(`${containment.root}/a/b`)
})

it('a path has one real path, whatever of it is there', () => {
  expect(real('/')).toBe('/')
  expect([real('/a/b'), real('/link/b'), real('/shell/b')]).toEqual(['/a/b', '/a/b', '/a/b'])
  expect([real('/link'), real('/link', false)]).toEqual(['/a', '/link'])
  expect([real('/link/no/deeper'), real('/no')]).toEqual(['/a/no/deeper', '/no'])
  expect(real('/a/file/below')).toBe('/a/file/below')
  expect(real('/out', false)).toBe('/out')
  for (const path of ['/out', '/out/x']) {
    expect(() => real(path)).toThrow(coded('path-escape', path))
  }
})

it('a directory is opened wherever links inside lead, and nowhere else', () => {
  expect(['/', '/a/b', '/link/b', '/shell'].map((path) => locationOf(path))).toEqual([
    '/',
    '/a/b',
    '/a/b',
    '/a',
  ])
  expect(() => locationOf('/no')).toThrow(coded('not-found', '/no'))
  expect(() => locationOf('/a/file')).toThrow(coded('not-directory', '/a/file'))
  expect(() => locationOf('/out')).toThrow(coded('path-escape', '/out'))
})

it('a place is a name in a directory, and what is there', () => {
  expect(located('/a/file')).toEqual(['/a', 'file', true])
  expect(located('/a/b')).toEqual(['/a', 'b', false])
  expect(located('/')).toEqual(['/', '.', false])
  expect(located('/link/none')).toEqual(['/a', 'none', undefined])
  expect(located('/link')).toEqual(['/', 'a', false])
  expect(located('/link', false)).toEqual(['/', 'link', 'link'])
  expect(located('/out', false)).toEqual(['/', 'out', 'link'])
  expect(() => located('/out')).toThrow(coded('path-escape', '/out'))
  expect(() => located('/new/file')).toThrow(coded('not-found', '/new/file'))
  expect(() => located('/a/file/x')).toThrow(coded('not-directory', '/a/file/x'))
  expect(located('/new/file', true, true)).toEqual(['/new', 'file', undefined])
  const long = `/${'x'.repeat(256)}`
  expect(() => located(long)).toThrow(coded('invalid-path', long))
})

it('without links a path leads to itself or nowhere', () => {
  const strict = containment.withoutLinks()
  expect(locationOf('/a/b', strict)).toBe('/a/b')
  expect(() => locationOf('/link', strict)).toThrow(coded('path-escape', '/link'))
  expect(() => locationOf('/link/b', strict)).toThrow(coded('path-escape', '/link/b'))
  const fd = openSync(at('a/file'), READ)
  expect([containment.holds(fd, '/link/file'), strict.holds(fd, '/link/file')]).toEqual([
    true,
    false,
  ])
  expect(strict.holds(fd, '/a/file')).toBe(true)
  closeSync(fd)
})

it('what lies beside the root, also by a similar name, is outside', () => {
  mkdirSync(`${opened().root}-other`)
  symlinkSync(`${opened().root}-other`, at('beside'))
  expect(() => locationOf('/beside')).toThrow(coded('path-escape', '/beside'))
  const fd = openSync(`${opened().root}-other`, READ)
  expect(containment.holds(fd, '/beside')).toBe(false)
  closeSync(fd)
})

it('absolute links mean the root of the shell and of the host', () => {
  symlinkSync('/workspace', at('top'))
  symlinkSync(join(containment.root, 'a'), at('host'))
  symlinkSync('/workspaces/a', at('similar'))
  expect(['/top/a', '/host/b'].map((path) => locationOf(path))).toEqual(['/a', '/a/b'])
  expect(() => locationOf('/similar')).toThrow(coded('path-escape', '/similar'))
  const plain = new Containment({ root: containment.root, restoreRoot: () => {} })
  expect(locationOf('/host', plain)).toBe('/a')
  expect(() => locationOf('/top', plain)).toThrow(coded('path-escape', '/top'))
})

it('a root that is gone is brought back; one that leads away stays rejected', () => {
  expect([locationOf('/'), restored]).toEqual(['/', 0])
  rmSync(opened().root, { recursive: true })
  expect([locationOf('/'), restored]).toEqual(['/', 1])
  rmSync(opened().root, { recursive: true })
  symlinkSync(opened().outside, opened().root)
  const keeping = create({ root: containment.root, restoreRoot: () => (restored += 1) })
  expect(() => keeping.openRoot()).toThrow(coded('path-escape', '/'))
  expect(restored).toBe(2)
})

it('a file that is opened in a directory has the errors of its path', () => {
  const directory = containment.openDirectory('/a')
  closeSync(openAt({ directory, name: 'file' }, READ, '/a/file'))
  expect(() => openAt({ directory, name: 'no' }, READ, '/a/no')).toThrow(
    coded('not-found', '/a/no'),
  )
  renameSync(at('a'), at('moved'))
  closeSync(openAt({ directory, name: 'file' }, READ, '/a/file'))
  expect(directory.location()).toBe(join(containment.root, 'moved'))
  directory.close()
})

it('a directory that was moved out while a path was walked has no path', () => {
  mkdirSync(at('moved'))
  const directory = PinnedDirectory.open(at('moved'), ANCHOR_NO_LINK)
  renameSync(at('moved'), join(opened().outside, 'moved'))
  vi.spyOn(containment, 'walk').mockReturnValue({ directory, name: 'x' })
  expect(() => real('/missing/x')).toThrow(coded('path-escape', '/missing/x'))
})

it('a link that is there again after each walk is given up', () => {
  const walk = vi.spyOn(containment, 'walk').mockImplementation(() => ({
    directory: PinnedDirectory.open(opened().root, ANCHOR_NO_LINK),
    name: 'link',
  }))
  expect(() => containment.locate('/missing/link', { followLast: true })).toThrow(
    '/missing/link: no such file or directory (its links never stay the same)',
  )
  expect(walk).toHaveBeenCalledTimes(40)
})
