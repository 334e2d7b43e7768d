import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GlobOptions, GrepOptions } from '@helix-agents/core/provider'
import { beforeEach, describe, expect, it } from 'vitest'
import { globFiles, grepFiles } from '../../src/file-system/search-files.ts'
import { beforeFsCall } from '../before-fs-call.ts'
import { useFileSystem } from '../open-file-system.ts'

const MEBIBYTE = 1024 * 1024
const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)
const coded = (code: string, path: string) => expect.objectContaining({ code, path })

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), content)
}
const glob = (pattern: string, path = '/', options: GlobOptions = {}): Promise<string[]> =>
  globFiles(opened().fs.context, pattern, { path, options })
const grep = (pattern: string, path = '/', options: GrepOptions = {}) =>
  grepFiles(opened().fs.context, pattern, { path, options })
const found = async (pattern: string, path = '/', options: GrepOptions = {}) =>
  (await grep(pattern, path, options)).matches.map(({ path: file, lineNumber, line }) => [
    file,
    lineNumber,
    line,
  ])

const limited = (limit: number): Promise<string[]> => glob('**', '/', { limit })

beforeEach(() => {
  write('a.ts', 'one\nneedle')
  write('src/b.ts', 'a Needle\n')
  write('src/deep/c.ts', 'needle\nneedle')
  write('.helix/output/x.ts', 'needle')
  symlinkSync('../a.ts', at('src/link.ts'))
  symlinkSync('deep', at('src/dir.ts'))
  symlinkSync('/etc/passwd', at('src/out.ts'))
  symlinkSync('nothing', at('src/gone.ts'))
})

describe('a glob', () => {
  it('finds files and links to files inside, in order', async () => {
    expect(await glob('**/*.ts')).toEqual(['/a.ts', '/src/b.ts', '/src/deep/c.ts', '/src/link.ts'])
    expect([await glob('*.ts'), await glob('src/*.ts'), await glob('*')]).toEqual([
      ['/a.ts'],
      ['/src/b.ts', '/src/link.ts'],
      ['/a.ts'],
    ])
  })
  it('is relative to the directory of the search', async () => {
    expect(await glob('*.ts', '/src/deep')).toEqual(['/src/deep/c.ts'])
    expect(await glob('**', '/src')).toEqual(['/src/b.ts', '/src/deep/c.ts', '/src/link.ts'])
  })
  it('enters the directory of the framework only when that is named', async () => {
    expect(await glob('.helix/**')).toEqual([])
    expect(await glob('**', '/.helix')).toEqual(['/.helix/output/x.ts'])
    write('src/.helix/y', '')
    expect(await glob('**/y')).toEqual(['/src/.helix/y'])
    // Only the one at the root is the framework's own.
    expect(await glob('**/y', '/src')).toEqual(['/src/.helix/y'])
  })
  it('ends at its limit', async () => {
    expect([await limited(0), await limited(-1), await limited(1)]).toEqual([[], [], ['/a.ts']])
    expect([(await limited(2)).length, (await limited(9)).length]).toEqual([2, 4])
  })
  it('needs a directory, and hears an abort', async () => {
    await expect(glob('**', '/a.ts')).rejects.toThrow(coded('not-directory', '/a.ts'))
    await expect(glob('**', '/no', { limit: 0 })).rejects.toThrow(coded('not-found', '/no'))
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(glob('**', '/', { signal, limit: 0 })).rejects.toThrow('stopped')
  })
})

describe('a grep', () => {
  it('finds lines of files, and follows no link', async () => {
    expect(await found('needle')).toEqual([
      ['/a.ts', 2, 'needle'],
      ['/src/deep/c.ts', 1, 'needle'],
      ['/src/deep/c.ts', 2, 'needle'],
    ])
    expect(await found('needle', '/src/deep')).toHaveLength(2)
    expect(await found('needle', '/.helix')).toEqual([['/.helix/output/x.ts', 1, 'needle']])
  })
  it('of one file reads that, also through a link', async () => {
    expect(await found('needle', '/src/link.ts')).toEqual([['/src/link.ts', 2, 'needle']])
    await expect(grep('x', '/src/out.ts')).rejects.toThrow(coded('path-escape', '/src/out.ts'))
    await expect(grep('x', '/src/gone.ts')).rejects.toThrow(coded('not-found', '/src/gone.ts'))
  })
  it('may ignore case, and take few files', async () => {
    expect(await found('NEEDLE', '/src/b.ts', { ignoreCase: true })).toEqual([
      ['/src/b.ts', 1, 'a Needle'],
    ])
    expect(await found('needle', '/', { includeGlob: 'a.*' })).toEqual([['/a.ts', 2, 'needle']])
    expect(await found('needle', '/', { maxResults: 2 })).toHaveLength(2)
  })
  it('leaves out what is binary, and names it', async () => {
    write('src/bin', 'needle\0')
    const { matches, skippedBinaryPaths } = await grep('needle', '/src/bin')
    expect([matches, skippedBinaryPaths]).toEqual([[], ['/src/bin']])
  })
  it('reads a file up to the limit, whole buffers and more', async () => {
    const options = { maxGrepFileSizeMb: 1 }
    write('most', `${'\n'.repeat(MEBIBYTE - 6)}needle`)
    write('over', `needle${'\n'.repeat(MEBIBYTE - 5)}`)
    expect((await grep('needle', '/most', options)).matches).toHaveLength(1)
    const over = await grep('needle', '/over', options)
    expect([over.matches, over.skippedPaths]).toEqual([[], ['/over']])
    expect((await grep('needle', '/over', { maxGrepFileSizeMb: 2 })).matches).toHaveLength(1)
    write('less', `${'\n'.repeat(MEBIBYTE - 7)}needle`)
    expect((await grep('needle', '/less', { maxGrepFileSizeMb: 2 })).matches).toHaveLength(1)
  })
  it('hears an abort', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(grep('x', '/a.ts', { signal })).rejects.toThrow('stopped')
  })
})

function failToOpen(name: string, code: string): void {
  beforeFsCall('openSync', (path) => {
    if (String(path).endsWith(name)) throw Object.assign(new Error(code), { code })
  })
}

describe('a file that cannot be opened', () => {
  it.each(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO'])(
    'for %s is gone, replaced or closed to us, and has nothing',
    async (code) => {
      failToOpen('/a.ts', code)
      expect((await found('needle')).map(([path]) => path)).toEqual([
        '/src/deep/c.ts',
        '/src/deep/c.ts',
      ])
    },
  )
  it('for want of descriptors ends the search: hits may be missing', async () => {
    failToOpen('/a.ts', 'EMFILE')
    await expect(grep('needle')).rejects.toThrow('EMFILE')
  })
})
