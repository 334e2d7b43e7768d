import { describe, expect, it } from 'vitest'
import { fileSystemConfigSchema } from '../../../../src/modules/fs/config.ts'
import type { FileSystem } from '../../../../src/modules/fs/contract.ts'
import { MapFileSystem } from '../map-file-system.ts'
import { codeOf, ToolBench } from '../tool-bench.ts'

/** 100 bytes. */
const MB = 100 / 1_048_576

function streamOf(...sizes: number[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size).fill(97))
      controller.close()
    },
  })
}

describe('size limit', () => {
  const { fs, guarded } = new ToolBench({ maxFileSizeMb: MB })

  it.each([
    ['99 bytes', 'a'.repeat(99), 'ok'],
    ['100 bytes', 'a'.repeat(100), 'ok'],
    ['101 bytes', 'a'.repeat(101), 'too-large'],
    ['100 bytes in 50 characters', 'é'.repeat(50), 'ok'],
    ['102 bytes in 51 characters', 'é'.repeat(51), 'too-large'],
    ['100 raw bytes', new Uint8Array(100), 'ok'],
    ['101 raw bytes', new Uint8Array(101), 'too-large'],
  ])('takes %s: %s', async (_what, data, expected) => {
    fs.calls.length = 0
    expect(await codeOf(guarded.writeFile('/f', data))).toBe(expected)
    expect(await codeOf(guarded.appendFile('/new', data))).toBe(expected)
    expect(fs.calls.length).toBe(expected === 'ok' ? 2 : 0)
    fs.files.clear()
  })

  it('counts what a file holds already', async () => {
    await guarded.writeFile('/f', 'a'.repeat(60))
    expect(await codeOf(guarded.appendFile('/f', 'b'.repeat(41)))).toBe('too-large')
    expect(fs.text('/f')).toBe('a'.repeat(60))
    expect(await codeOf(guarded.appendFile('/f', 'b'.repeat(40)))).toBe('ok')
  })

  it('counts a stream while it flows, and leaves the old file', async () => {
    await guarded.writeFile('/f', 'old')
    expect(await codeOf(guarded.writeStream('/f', streamOf(50, 50, 1)))).toBe('too-large')
    expect(fs.text('/f')).toBe('old')
    expect(await codeOf(guarded.writeStream('/f', streamOf(50, 50)))).toBe('ok')
  })

  it('holds for copies, also of a directory', async () => {
    await fs.writeFile('/big', 'a'.repeat(101))
    await fs.writeFile('/d/big', 'a'.repeat(101))
    expect(await codeOf(guarded.copy('/big', '/c'))).toBe('too-large')
    expect(await codeOf(guarded.copy('/d', '/e'))).toBe('too-large')
    expect(await codeOf(guarded.copy('/f', '/g'))).toBe('ok')
    expect(await codeOf(guarded.move('/big', '/c'))).toBe('ok')
  })

  it('caps the size of searched files, whatever the caller asks', async () => {
    const search = new ToolBench({ maxGrepFileSizeMb: MB })
    await search.fs.writeFile('/big', 'a'.repeat(101))
    for (const maxGrepFileSizeMb of [undefined, Infinity, 50]) {
      const options = maxGrepFileSizeMb === undefined ? {} : { maxGrepFileSizeMb }
      const result = await search.guarded.grep('a', options)
      expect(result).toMatchObject({ matches: [], skippedPaths: ['/big'], countIsComplete: false })
    }
    const own = await search.guarded.grep('a', { maxGrepFileSizeMb: MB / 100 })
    expect(own.skippedPaths).toEqual(['/big'])
  })
})

const optional = (fs: FileSystem) => ['readText', 'watch'].filter((name) => name in fs)

describe('guard', () => {
  it('has the optional methods that the provider has', () => {
    const plain = new MapFileSystem()
    expect(optional(new ToolBench({}, plain).guarded)).toEqual(['readText'])
    const rules = { pathRules: [{ pattern: '/a', access: 'none' as const }] }
    expect(optional(new ToolBench(rules, plain).guarded)).toEqual(['readText'])
    Object.assign(plain, { readText: undefined, watch: async () => () => undefined })
    expect(optional(new ToolBench(rules, plain).guarded)).toEqual(['watch'])
  })

  it('refuses every change when it is read-only', async () => {
    const { fs, guarded } = new ToolBench({ readOnly: true })
    await fs.writeFile('/f', 'x')
    fs.calls.length = 0
    const changes: ((g: FileSystem) => Promise<unknown>)[] = [
      (g) => g.writeFile('/f', 'y'),
      (g) => g.appendFile('/f', 'y'),
      (g) => g.mkdir('/d'),
      (g) => g.rm('/f'),
      (g) => g.copy('/f', '/g'),
      (g) => g.move('/f', '/g'),
      (g) => g.writeStream('/f', streamOf(1)),
    ]
    for (const change of changes) expect(await codeOf(change(guarded))).toBe('read-only')
    expect(fs.calls).toEqual([])
    expect(await guarded.readFile('/f')).toEqual(new Uint8Array([120]))
  })
})

const benchWithRules = () =>
  new ToolBench({
    pathRules: [
      { pattern: '/secrets/public/**', access: 'read' },
      { pattern: '/secrets/**', access: 'none' },
      { pattern: '/**/*.key', access: 'none' },
      { pattern: '/docs/**', access: 'read' },
    ],
  })

async function filled() {
  const made = benchWithRules()
  for (const path of ['/a', '/secrets/x', '/secrets/public/y', '/src/k.key', '/docs/d']) {
    await made.fs.writeFile(path, 'needle')
  }
  made.fs.calls.length = 0
  return made
}

describe('path rules', () => {
  it('refuses hidden paths by whatever spelling, and records it', async () => {
    const { guarded, audited } = await filled()
    const spellings = ['/secrets/x', 'secrets/x', '//secrets/./x', '/a/../secrets/x', '/secrets']
    for (const path of [...spellings, '/src/k.key']) {
      expect(await codeOf(guarded.stat(path))).toBe('path-denied')
      expect(await codeOf(guarded.readFile(path))).toBe('path-denied')
      expect(await codeOf(guarded.readText!(path))).toBe('path-denied')
      expect(await codeOf(guarded.readStream(path))).toBe('path-denied')
      expect(await codeOf(guarded.writeFile(path, 'x'))).toBe('path-denied')
      expect(await codeOf(guarded.grep('x', { path }))).toBe('path-denied')
    }
    expect(await codeOf(guarded.ls('/secrets'))).toBe('path-denied')
    expect(audited).toHaveLength(37)
    expect(audited[0]).toMatchObject({
      message: 'workspace tool: path denied',
      code: 'path-denied',
      key: '/secrets/x',
    })
  })

  it('takes the first rule that matches', async () => {
    const { guarded } = await filled()
    expect(await codeOf(guarded.readFile('/secrets/public/y'))).toBe('ok')
    expect(await codeOf(guarded.writeFile('/secrets/public/y', 'x'))).toBe('path-denied')
    expect(await codeOf(guarded.readFile('/docs/d'))).toBe('ok')
    expect(await codeOf(guarded.writeFile('/docs/d', 'x'))).toBe('path-denied')
    expect(await codeOf(guarded.appendFile('/docs/d', 'x'))).toBe('path-denied')
    expect(await codeOf(guarded.mkdir('/docs/e'))).toBe('path-denied')
    expect(await codeOf(guarded.writeStream('/docs/d', streamOf(1)))).toBe('path-denied')
    expect(await codeOf(guarded.writeFile('/a', 'x'))).toBe('ok')
  })

  it('leaves hidden paths out of listings and searches', async () => {
    const { guarded } = await filled()
    expect((await guarded.ls('/')).map((entry) => entry.name)).toEqual(['a', 'docs', 'src'])
    expect(await guarded.ls('/src')).toEqual([])
    expect(await guarded.glob('**')).toEqual(['/a', '/docs/d', '/secrets/public/y'])
    expect(await guarded.glob('**', { limit: 2 })).toEqual(['/a', '/docs/d'])
    const all = await guarded.grep('needle')
    expect(all.matches.map((match) => match.path)).toEqual(['/a', '/docs/d', '/secrets/public/y'])
    expect(all.countIsComplete).toBe(true)
  })

  it('fills the limit of a search with visible matches', async () => {
    const { fs, guarded } = benchWithRules()
    await fs.writeFile('/a.key', 'needle\n'.repeat(500))
    await fs.writeFile('/b', 'needle\n'.repeat(5))
    const result = await guarded.grep('needle', { maxResults: 3 })
    expect(result.matches.map((match) => match.path + match.lineNumber)).toEqual([
      '/b1',
      '/b2',
      '/b3',
    ])
    expect(result.countIsComplete).toBe(false)
    const all = await guarded.grep('needle', { maxResults: 5 })
    expect([all.matches.length, all.countIsComplete]).toEqual([5, true])
  })

  it('does not let a subtree carry hidden paths along', async () => {
    const { fs, guarded } = await filled()
    const before = fs.all()
    expect(await codeOf(guarded.copy('/src', '/b'))).toBe('path-denied')
    expect(await codeOf(guarded.move('/src', '/b'))).toBe('path-denied')
    expect(await codeOf(guarded.rm('/src', { recursive: true }))).toBe('path-denied')
    expect(await codeOf(guarded.rm('/', { recursive: true }))).toBe('path-denied')
    expect(await codeOf(guarded.move('/docs/d', '/x'))).toBe('path-denied')
    expect(await codeOf(guarded.copy('/a', '/docs/a'))).toBe('path-denied')
    expect(await codeOf(guarded.rm('/docs/d'))).toBe('path-denied')
    expect(fs.all()).toEqual(before)
    expect(await codeOf(guarded.copy('/docs/d', '/x'))).toBe('ok')
  })

  it.each(['/secret', '/secret/', '/{secret,x}', '/sec*', '/**/secret', '/secret/*', '/'])(
    'covers everything below what %s matches',
    async (pattern) => {
      const { fs, guarded } = new ToolBench({ pathRules: [{ pattern, access: 'none' }] })
      await fs.writeFile('/secret/deep/key', 'needle')
      await fs.writeFile('/secretary', 'needle')
      expect(await codeOf(guarded.readFile('/secret/deep/key'))).toBe('path-denied')
      expect(await codeOf(guarded.ls('/secret/deep'))).toBe('path-denied')
      expect(await codeOf(guarded.copy('/secret', '/b'))).toBe('path-denied')
      const isWide = pattern === '/sec*' || pattern === '/'
      expect(await codeOf(guarded.readFile('/secretary'))).toBe(isWide ? 'path-denied' : 'ok')
      const found = await guarded.glob('**').catch(() => [])
      expect(found).toEqual(isWide ? [] : ['/secretary'])
    },
  )

  it('refuses a pattern that is none when it is declared', () => {
    for (const pattern of ['/[a', '/../a', 'secrets/**', `/${'a'.repeat(1022)}`]) {
      const pathRules = [{ pattern, access: 'none' }]
      expect(fileSystemConfigSchema.safeParse({ pathRules }).success).toBe(false)
    }
  })
})
