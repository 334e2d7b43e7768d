import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_PATH_DEPTH } from '@helix-agents/core/provider'
import { expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../../src/file-system/path/pinned-directory.ts'
import { type WalkOptions, walkPath } from '../../../src/file-system/path/walk-path.ts'
import { useFileSystem } from '../../open-file-system.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)

interface Walk extends Partial<WalkOptions> {
  readonly rejectsLinks?: boolean
}

/** Where a walk ends, relative to the root. */
function walk(path: string, options: Walk = {}) {
  const { root } = opened()
  const place = walkPath(path, {
    followLast: true,
    rejectsLinks: false,
    openRoot: () => PinnedDirectory.open(root, ANCHOR_NO_LINK),
    mapLink: (target) => (target.startsWith('/shell/') ? target.slice('/shell'.length) : undefined),
    ...options,
  })
  const { directory, ...rest } = place
  const location = directory.location().slice(root.length) || '/'
  directory.close()
  return { in: location, ...rest }
}

it('a walk ends at the last name, whether it is there or not', () => {
  mkdirSync(at('a/b'), { recursive: true })
  expect(walk('/')).toEqual({ in: '/', name: '.' })
  expect(walk('/a')).toEqual({ in: '/', name: 'a' })
  expect(walk('/a/b')).toEqual({ in: '/a', name: 'b' })
  expect(walk('//a/./b/none')).toEqual({ in: '/a/b', name: 'none' })
  expect(walk('/a/b/../c')).toEqual({ in: '/a', name: 'c' })
  expect(walk('/a/b/../..')).toEqual({ in: '/', name: '.' })
})

it('a walk never leaves the root', () => {
  mkdirSync(at('a'))
  symlinkSync('../..', at('a/up'))
  symlinkSync('/etc', at('a/out'))
  const escape = expect.objectContaining({ code: 'path-escape', path: '/a/up' })
  expect(() => walk('/a/up')).toThrow(escape)
  for (const path of ['/..', '/a/../..', '/a/out', '/a/out/passwd']) {
    expect(() => walk(path)).toThrow(expect.objectContaining({ code: 'path-escape', path }))
  }
})

it('links are followed on the way, and at the end when that is wanted', () => {
  mkdirSync(at('a/b'), { recursive: true })
  symlinkSync('a/b', at('link'))
  symlinkSync('/shell/a', at('a/absolute'))
  symlinkSync('../link/x', at('a/chain'))
  expect(walk('/link')).toEqual({ in: '/a', name: 'b' })
  expect(walk('/link/c')).toEqual({ in: '/a/b', name: 'c' })
  expect(walk('/a/absolute')).toEqual({ in: '/', name: 'a' })
  expect(walk('/a/absolute/b/c')).toEqual({ in: '/a/b', name: 'c' })
  expect(walk('/a/chain')).toEqual({ in: '/a/b', name: 'x' })
  const stay = { followLast: false }
  expect(walk('/link', stay)).toEqual({ in: '/', name: 'link' })
  expect(walk('/a/out', stay)).toEqual({ in: '/a', name: 'out' })
  expect(walk('/link/c', stay)).toEqual({ in: '/a/b', name: 'c' })
})

it('links may be rejected; the last one is, when it would be followed', () => {
  mkdirSync(at('a'))
  symlinkSync('a', at('link'))
  const escape = expect.objectContaining({ code: 'path-escape' })
  expect(() => walk('/link', { rejectsLinks: true })).toThrow(escape)
  expect(() => walk('/link/x', { rejectsLinks: true, followLast: false })).toThrow(escape)
  const last = walk('/link', { rejectsLinks: true, followLast: false })
  expect(last).toEqual({ in: '/', name: 'link' })
})

it('40 links are followed, and no more', () => {
  writeFileSync(at('l0'), '')
  for (let n = 1; n <= 41; n += 1) symlinkSync(`l${n - 1}`, at(`l${n}`))
  symlinkSync('circle', at('circle'))
  expect(walk('/l40')).toEqual({ in: '/', name: 'l0' })
  for (const path of ['/l41', '/circle', '/circle/x']) {
    expect(() => walk(path)).toThrow(
      expect.objectContaining({
        code: 'not-found',
        path,
        message: expect.stringContaining(
          'its links lead in a circle, or through too many others',
        ) as string,
      }),
    )
  }
})

it('what is missing on the way is an error, is made, or ends the walk', () => {
  writeFileSync(at('file'), '')
  expect(() => walk('/a/b/c')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  expect(() => walk('/file/b')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
  const stops = { stopsAtMissing: true }
  expect(walk('/a/b/c', stops)).toEqual({ in: '/', name: 'a', rest: ['b', 'c'] })
  expect(walk('/file/b', stops)).toEqual({ in: '/', name: 'file', rest: ['b'] })
  expect(readdirSync(opened().root)).toEqual(['file'])
  expect(walk('/a/b/c', { createParents: true })).toEqual({ in: '/a/b', name: 'c' })
  expect(() => walk('/file/b', { createParents: true })).toThrow('ENOTDIR')
  expect(lstatSync(at('a/b')).isDirectory()).toBe(true)
  expect(readdirSync(at('a/b'))).toEqual([])
})

it('a link to what is missing is made there when parents are made', () => {
  symlinkSync('made/later', at('link'))
  expect(walk('/link/x', { createParents: true })).toEqual({ in: '/made/later', name: 'x' })
})

it('a walk makes twice as many directories as a path has names, and ends at the next', () => {
  const path = `/${Array.from({ length: 520 }, (_, n) => `${n}/..`).join('/')}/x`
  expect(() => walk(path, { createParents: true })).toThrow(
    expect.objectContaining({ code: 'not-found', path }),
  )
  expect(readdirSync(opened().root)).toHaveLength(2 * MAX_PATH_DEPTH + 1)
})
