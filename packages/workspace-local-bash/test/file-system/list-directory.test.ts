import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FileContext } from '../../src/file-system/file-context.ts'
import { listDirectory } from '../../src/file-system/list-directory.ts'
import { Versions } from '../../src/file-system/version.ts'
import { useFileSystem } from '../open-file-system.ts'
import { turnsDuring, useSlowMachine } from '../slow-machine.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)
const coded = (code: string, path: string) => expect.objectContaining({ code, path })
const contextOf = (isFine: boolean): FileContext => ({
  ...opened().fs.context,
  versions: new Versions(join(opened().base, 'scratch'), isFine),
})

const listFinely = (path: string) => listDirectory(contextOf(true), path)

describe.each([
  ['few children', 1, true],
  ['many children', 30, true],
  ['many children, where times are coarse', 30, false],
])('a listing of %s', (_, count, isFine) => {
  const list = (path: string) => listDirectory(contextOf(isFine), path)
  const fill = (directory: string): readonly string[] =>
    Array.from({ length: count }, (_each, n) => {
      const name = `f${String(n).padStart(2, '0')}`
      writeFileSync(join(at(directory), name), 'x'.repeat(n))
      return name
    })

  it('names each with its path, its type and the size of files', async () => {
    mkdirSync(at('d/e'), { recursive: true })
    symlinkSync('e', at('d/link'))
    const names = fill('d')
    expect(await list('/d')).toEqual([
      { name: 'e', path: '/d/e', type: 'directory' },
      ...names.map((name, size) => ({ name, path: `/d/${name}`, type: 'file', size })),
      { name: 'link', path: '/d/link', type: 'symlink' },
    ])
  })
  it('of the root has paths below it', async () => {
    const names = fill('')
    expect((await list('/')).map(({ path }) => path)).toEqual(names.map((name) => `/${name}`))
  })
  it('is that of the directory that a link leads to', async () => {
    mkdirSync(at('d'))
    symlinkSync('d', at('link'))
    fill('d')
    const listed = await list('/link')
    expect([listed.length, listed[0]?.path]).toEqual([count, '/link/f00'])
  })
  it('is that of the directory whose path changes meanwhile', async () => {
    mkdirSync(at('d'))
    const names = fill('d')
    const listing = list('/d')
    renameSync(at('d'), at('moved'))
    mkdirSync(at('d'))
    for (const name of names) writeFileSync(join(at('d'), name), 'other content')
    expect((await listing).map(({ size }) => size)).toEqual(names.map((_name, size) => size))
  })
})

it('a listing that takes long leaves other work its turns, and is whole', async () => {
  for (let n = 0; n < 20; n += 1) writeFileSync(at(`f${n}`), 'xy')
  for (const isFine of [true, false]) {
    const context = contextOf(isFine)
    const sizes: unknown[] = []
    const turns = await turnsDuring(async () => {
      for (const { size } of await listDirectory(context, '/')) sizes.push(size)
    })
    expect(turns).toBeGreaterThanOrEqual(20)
    expect(sizes).toEqual(Array.from({ length: 20 }, () => 2))
  }
})

it('a listing whose path leads elsewhere half-way is still that of the directory', async () => {
  for (const name of ['d', 'other']) {
    mkdirSync(at(name))
    for (let n = 0; n < 20; n += 1) writeFileSync(at(`${name}/f${n}`), name)
  }
  useSlowMachine()
  const listing = listFinely('/d')
  setImmediate(() => {
    renameSync(at('d'), at('moved'))
    renameSync(at('other'), at('d'))
  })
  expect(new Set((await listing).map(({ size }) => size))).toEqual(new Set([1]))
})

it('only directories inside are listed', async () => {
  writeFileSync(at('f'), '')
  symlinkSync(opened().outside, at('out'))
  await expect(listFinely('/no')).rejects.toThrow(coded('not-found', '/no'))
  await expect(listFinely('/f')).rejects.toThrow(coded('not-directory', '/f'))
  await expect(listFinely('/out')).rejects.toThrow(coded('path-escape', '/out'))
})
