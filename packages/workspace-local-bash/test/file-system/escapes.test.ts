import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const SENTINEL = 'the sentinel must stay secret and whole'
let opened: OpenedFileSystem
let fs: FileSystem

beforeEach(() => {
  opened = openFileSystem()
  fs = opened.fs
  writeFileSync(join(opened.outside, 'sentinel'), SENTINEL)
  mkdirSync(join(opened.outside, 'sub'))
  writeFileSync(join(opened.outside, 'sub', 'deep'), SENTINEL)
})
afterEach(() => opened.dispose())

/** Every call that takes a path. */
const CALLS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  readFile: (path) => fs.readFile(path),
  readText: (path) => fs.readText!(path),
  readStream: (path) => fs.readStream(path),
  writeFile: (path) => fs.writeFile(path, 'overwritten'),
  writeLarge: (path) => fs.writeFile(path, 'x'.repeat(300_000)),
  writeIfAbsent: (path) => fs.writeFile(path, 'overwritten', { ifAbsent: true }),
  writeStream: (path) => fs.writeStream(path, new Blob(['overwritten']).stream()),
  appendFile: (path) => fs.appendFile(path, 'appended'),
  ls: (path) => fs.ls(path),
  stat: (path) => fs.stat(path),
  glob: (path) => fs.glob('**', { path }),
  grep: (path) => fs.grep('sentinel', { path, mode: 'literal' }),
  mkdir: (path) => fs.mkdir(path),
  mkdirAll: (path) => fs.mkdir(`${path}/made`, { recursive: true }),
  rm: (path) => fs.rm(`${path}/sentinel`, { recursive: true }),
  copyFrom: (path) => fs.copy(path, '/stolen', { overwrite: true }),
  copyTo: (path) => fs.copy('/own', `${path}/new`, { overwrite: true }),
  moveFrom: (path) => fs.move(`${path}/sentinel`, '/stolen', { overwrite: true }),
  moveTo: (path) => fs.move('/own', `${path}/new`, { overwrite: true }),
}

/** Links, as name and target; `@` stands for the directory outside, `#` for the root. */
const LINKS: Readonly<Record<string, string>> = {
  absolute: '@',
  file: '@/sentinel',
  relative: '../outside',
  'relative-file': '../outside/sentinel',
  'through-root': '#/../outside',
  'many-dots': '../../../../../../../../../../../../..@',
  missing: '@/not-there',
  'missing-deep': '@/not/there',
  system: '/etc',
  passwd: '/etc/passwd',
  'system-root': '/',
  'proc-root': '/proc/self/root',
  'proc-cwd': '/proc/self/cwd',
  'proc-file': '/proc/self/environ',
  'proc-fd': '/proc/self/fd/0',
  'dev-fd': '/dev/fd',
  chain: 'chain-2',
  'chain-2': 'dir/chain-3',
  loop: 'loop',
  'loop-a': 'loop-b',
  'loop-b': 'dir/../loop-a',
  base: '..',
  'base-deep': 'dir/../..',
  sibling: '#-sibling',
}

/** Links in a circle lead nowhere, not out. */
const codeOf = (link: string): string => (link.startsWith('loop') ? 'not-found' : 'path-escape')

function plant(): void {
  const { root, outside } = opened
  mkdirSync(join(root, 'dir'))
  writeFileSync(join(root, 'own'), 'own')
  mkdirSync(`${root}-sibling`)
  writeFileSync(join(`${root}-sibling`, 'sentinel'), SENTINEL)
  for (const [name, target] of Object.entries(LINKS)) {
    symlinkSync(target.replace('@', outside).replace('#', root), join(root, name))
  }
  symlinkSync(outside, join(root, 'dir', 'chain-3'))
}

function outsideState(): string {
  const { outside, base } = opened
  const list = readdirSync(outside, { recursive: true }).map(String).toSorted()
  const content = readFileSync(join(outside, 'sentinel'), 'utf8')
  return JSON.stringify([list, content, readdirSync(base).toSorted(), statSync(outside).mtimeMs])
}

describe('links that lead out', () => {
  for (const link of Object.keys(LINKS)) {
    it(`stop every call: ${link}`, async () => {
      plant()
      const before = outsideState()
      for (const [name, call] of Object.entries(CALLS)) {
        const result = await call(`/${link}`).catch((error: unknown) => error)
        expect([name, outsideState()]).toEqual([name, before])
        const code = FileSystemError.isInstance(result) && result.code
        expect([name, code]).toEqual([name, codeOf(link)])
        expect(String(result)).not.toContain(opened.base)
      }
      for (const path of [`/${link}/sentinel`, `/${link}/sub/deep`, `/dir/../${link}/x`]) {
        const error = await fs.readFile(path).catch((thrown: unknown) => thrown)
        expect(FileSystemError.isInstance(error) && error.code).toBe(codeOf(link))
      }
    })
  }
})

describe('searches', () => {
  it('never enter a link', async () => {
    plant()
    expect(await fs.glob('**')).toEqual(['/own'])
    expect((await fs.grep('sentinel', { mode: 'literal' })).matches).toEqual([])
  })
  it('remove links, not what they lead to', async () => {
    plant()
    const before = outsideState()
    await fs.rm('/', { recursive: true })
    expect([outsideState(), await fs.ls('/')]).toEqual([before, []])
  })
  it('copy links of a tree as links', async () => {
    plant()
    await fs.copy('/dir', '/dir-copy')
    await expect(fs.readFile('/dir-copy/chain-3/sentinel')).rejects.toMatchObject({
      code: 'path-escape',
    })
  })
})

describe('links that stay inside', () => {
  it('are followed, however they are written', async () => {
    const { root } = opened
    await fs.writeFile('/a/b/file', 'content')
    for (const [name, target] of [
      ['plain', 'a/b/file'],
      ['absolute', join(root, 'a/b/file')],
      ['dots', 'a/../a/b/../b/file'],
      ['twice', 'plain'],
    ] as const) {
      symlinkSync(target, join(root, name))
      expect(Buffer.from(await fs.readFile(`/${name}`)).toString()).toBe('content')
      expect((await fs.stat(`/${name}`)).type).toBe('file')
    }
    await fs.writeFile('/twice', 'changed')
    expect(Buffer.from(await fs.readFile('/a/b/file')).toString()).toBe('changed')
    expect(await fs.glob('*')).toEqual(['/absolute', '/dots', '/plain', '/twice'])
  })
  it('may point to what is still to be made', async () => {
    symlinkSync('later', join(opened.root, 'link'))
    await expect(fs.readFile('/link')).rejects.toMatchObject({ code: 'not-found' })
    await fs.writeFile('/link', 'made')
    expect(Buffer.from(await fs.readFile('/later')).toString()).toBe('made')
  })
  it('a hard link to an overwritten file keeps the old content', async () => {
    await fs.writeFile('/a', 'old')
    linkSync(join(opened.root, 'a'), join(opened.root, 'b'))
    await fs.writeFile('/a', 'new')
    expect(Buffer.from(await fs.readFile('/b')).toString()).toBe('old')
  })
})

describe('generated paths', () => {
  const name = fc.constantFrom('..', '.', '', 'dir', 'absolute', 'base', 'loop', 'own', 'é', '...')
  it('never reach the sentinel', async () => {
    plant()
    const before = outsideState()
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 7 }), async (names) => {
        const bytes = await fs.readFile(names.join('/')).catch(() => new Uint8Array())
        expect(Buffer.from(bytes).toString()).not.toContain('sentinel')
        await fs.appendFile(`${names.join('/')}/sentinel`, '!').catch(() => undefined)
        expect(outsideState()).toBe(before)
      }),
      { numRuns: 500 },
    )
  })
})
