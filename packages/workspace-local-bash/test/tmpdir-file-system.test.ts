// What the files of a workspace pass on: paths as they are meant, options, and the parts that views share.
import {
  type BigIntStats,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { FileStat } from '@helix-agents/core/provider'
import {
  TmpdirFileSystem,
  type TmpdirFileSystemOptions,
} from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it } from 'vitest'
import { Versions } from '../src/file-system/version.ts'
import { openFilesOf } from './open-files.ts'
import { useFileSystem } from './open-file-system.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)
const read = (path: string): string => readFileSync(at(path), 'utf8')
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const coded = (code: string, path: string) => expect.objectContaining({ code, path })
let fs: TmpdirFileSystem
beforeEach(() => {
  ;({ fs } = opened())
  mkdirSync(at('d'))
  writeFileSync(at('d/f'), 'in d')
  writeFileSync(at('f'), 'file ä')
})
const withOptions = (more: Partial<TmpdirFileSystemOptions>): TmpdirFileSystem =>
  new TmpdirFileSystem({
    root: opened().root,
    scratch: join(opened().base, 'scratch'),
    restore: () => {},
    ...more,
  })
const streamOf = (content: string): ReadableStream<Uint8Array> =>
  new Blob([content]).stream() as ReadableStream<Uint8Array>

describe('a path in any spelling', () => {
  it('is read', async () => {
    expect(text(await fs.readFile('d/../f'))).toBe('file ä')
    expect(await fs.readText('./d//f')).toBe('in d')
    expect(await new Response(await fs.readStream('d/./f', { offset: 3 })).text()).toBe('d')
    expect((await fs.ls('d/')).map(({ path }) => path)).toEqual(['/d/f'])
    expect(await fs.stat('d/../f')).toMatchObject({ path: '/f', type: 'file', size: 7 })
    expect(await fs.realPath('d/../d/f')).toBe('/d/f')
    expect(await fs.glob('*', { path: 'd/' })).toEqual(['/d/f'])
    expect((await fs.grep('in', { path: './d' })).matches.map(({ path }) => path)).toEqual(['/d/f'])
  })
  it('is written', async () => {
    await fs.writeFile('d/../g', 'text')
    await fs.writeFile('./h', new Uint8Array([97]))
    await fs.appendFile('d/../h', 'b')
    await fs.appendFile('h/', new Uint8Array([99]))
    await fs.writeStream('./d/../s', streamOf('stream'))
    expect([read('g'), read('h'), read('s')]).toEqual(['text', 'abc', 'stream'])
    await fs.mkdir('d/../e')
    await fs.copy('./g', 'e/./g')
    await fs.move('d/../g', 'e/../i')
    expect([read('e/g'), read('i'), existsSync(at('g'))]).toEqual(['text', 'text', false])
    await fs.rm('e/../i')
    expect(existsSync(at('i'))).toBe(false)
  })
})

describe('options', () => {
  it('of writes are heard, and needed by none', async () => {
    const options = { ifAbsent: true }
    await expect(fs.writeFile('/f', 'x', options)).rejects.toThrow(coded('already-exists', '/f'))
    const stored = fs.writeStream('/f', streamOf('x'), options)
    await expect(stored).rejects.toThrow(coded('already-exists', '/f'))
    expect(read('f')).toBe('file ä')
    await fs.writeFile('/f', 'new')
    expect(read('f')).toBe('new')
  })
  it('of trees are heard, and needed by none', async () => {
    await expect(fs.mkdir('/a/b')).rejects.toThrow(coded('not-found', '/a/b'))
    await expect(fs.mkdir('/a/b', { recursive: false })).rejects.toThrow(coded('not-found', '/a/b'))
    await fs.mkdir('/a/b', { recursive: true })
    await expect(fs.rm('/a')).rejects.toThrow(coded('not-empty', '/a'))
    await expect(fs.rm('/a', { recursive: false })).rejects.toThrow(coded('not-empty', '/a'))
    await fs.rm('/a', { recursive: true })
    expect(existsSync(at('a'))).toBe(false)
  })
  it('of transfers are heard, and needed by none', async () => {
    for (const call of ['copy', 'move'] as const) {
      await expect(fs[call]('/d/f', '/f')).rejects.toThrow(coded('already-exists', '/f'))
      await fs[call]('/d/f', '/f', { overwrite: true })
      expect(read('f')).toBe('in d')
      writeFileSync(at('f'), 'old')
    }
    const long = `/${'x'.repeat(200)}`.repeat(20)
    for (const call of ['copy', 'move'] as const) {
      await expect(fs[call]('/f', `${long}/${'y'.repeat(90)}`)).rejects.toMatchObject({
        code: 'invalid-path',
      })
    }
    expect(existsSync(at('x'.repeat(200)))).toBe(false)
  })
  it('of searches are heard, and needed by none', async () => {
    expect(await fs.glob('**')).toEqual(['/d/f', '/f'])
    expect(await fs.glob('**', { limit: 1 })).toEqual(['/d/f'])
    expect((await fs.grep('i')).matches.map(({ path }) => path)).toEqual(['/d/f', '/f'])
    expect((await fs.grep('I', { path: '/d', ignoreCase: true })).matches).toHaveLength(1)
  })
  it('of real paths say whether the last link is followed', async () => {
    symlinkSync('d/f', at('l'))
    expect(await fs.realPath('/l')).toBe('/d/f')
    expect(await fs.realPath('/l', { followLast: true })).toBe('/d/f')
    expect(await fs.realPath('./l', { followLast: false })).toBe('/l')
  })
})

it.each([0, 1, 256 * 1024, 256 * 1024 + 1])(
  'a text of %d bytes and more is read',
  async (bytes) => {
    const content = `${'x'.repeat(bytes)}ä`
    writeFileSync(at('text'), content)
    expect(await fs.readText('/text')).toBe(content)
  },
)

describe('a file system', () => {
  it('has its root behind links, and links as the shell sees them', async () => {
    symlinkSync(opened().root, join(opened().base, 'link'))
    symlinkSync('/workspace/d', at('l'))
    const linked = withOptions({ root: join(opened().base, 'link'), shellRoot: '/workspace' })
    expect(linked.context.containment.root).toBe(opened().root)
    expect(await linked.readText('/l/f')).toBe('in d')
    await expect(fs.readText('/l/f')).rejects.toThrow(coded('path-escape', '/l/f'))
  })
  it('holds files of any size, or up to a limit', async () => {
    expect(fs.context.maxFileBytes).toBe(Infinity)
    const bounded = withOptions({ maxFileBytes: 3 })
    await bounded.writeFile('/g', 'abc')
    await expect(bounded.writeFile('/g', 'abcd')).rejects.toThrow(coded('too-large', '/g'))
  })
  it('is brought back where it is gone', async () => {
    let restored = 0
    const root = join(opened().base, 'gone')
    mkdirSync(root)
    const back = withOptions({
      root,
      restore: () => {
        restored += 1
        mkdirSync(root, { recursive: true })
      },
    })
    rmdirSync(root)
    await back.writeFile('/f', 'x')
    expect([restored > 0, readFileSync(join(root, 'f'), 'utf8')]).toEqual([true, 'x'])
    const before = restored
    back.context.restore()
    expect(restored).toBe(before + 1)
  })
  it('without links rejects those, and shares the streams that are open', async () => {
    symlinkSync('d', at('l'))
    const plain = fs.withoutLinks() as TmpdirFileSystem
    expect(await fs.readText('/l/f')).toBe('in d')
    for (let round = 0; round < 2; round += 1) {
      await expect(plain.readText('/l/f')).rejects.toThrow(coded('path-escape', '/l/f'))
      expect(await plain.readText('/d/f')).toBe('in d')
    }
    await plain.readStream('/d/f')
    await fs.readStream('/f')
    expect(openFilesOf(opened().root)).toBe(2)
    fs.release()
    expect(openFilesOf(opened().root)).toBe(0)
    expect(await fs.attributes.readMode?.('/f')).toBe(0o644)
  })
})

const coarse = (versions: Versions): TmpdirFileSystem =>
  new TmpdirFileSystem(
    { root: opened().root, scratch: join(opened().base, 'scratch'), restore: () => {} },
    { context: { ...fs.context, versions }, readers: new Set() },
  )

describe('where times are coarse', () => {
  it('a version is given out once a later change has another time', async () => {
    const files = coarse(new Versions(join(opened().base, 'scratch'), false))
    writeFileSync(at('g'), 'x')
    const stat: FileStat = await files.stat('/g')
    expect(Date.now() - statSync(at('g')).ctimeMs).toBeGreaterThanOrEqual(24)
    expect([stat.path, stat.size]).toEqual(['/g', 1])
  })
  it('a file that keeps changing is looked at eight times', async () => {
    const seen: bigint[] = []
    const versions = {
      isFine: false,
      unsafeForMs: ({ size }: BigIntStats) => {
        seen.push(size)
        writeFileSync(at('g'), 'x'.repeat(seen.length + 1))
        return 0.5
      },
    } as unknown as Versions
    writeFileSync(at('g'), 'x')
    expect(await coarse(versions).stat('/g')).toMatchObject({ path: '/g', size: 8 })
    expect(seen).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n])
  })
})
