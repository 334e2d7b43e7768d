import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GlobOutput } from '../../../../src/modules/fs/tools/glob.ts'
import type { GrepOutput } from '../../../../src/modules/fs/tools/calls/grep.ts'
import type { LsOutput } from '../../../../src/modules/fs/tools/ls.ts'
import type { ReadFileOutput } from '../../../../src/modules/fs/tools/calls/read-file.ts'
import { ToolBench } from '../tool-bench.ts'

async function withFiles(files: Record<string, string | Uint8Array>, config = {}) {
  const bench = new ToolBench(config)
  for (const [path, data] of Object.entries(files)) await bench.fs.writeFile(path, data)
  return bench
}

describe('read_file', () => {
  it('numbers lines and names range, total and size', async () => {
    const bench = await withFiles({ '/a': 'x\n\ty\n', '/b': 'b\n'.repeat(10) })
    expect(await bench.show('read_file', { path: 'a' })).toBe(
      '/a: lines 1-2 of 2, 5 bytes\n1→x\n2→\ty\n',
    )
    expect(await bench.show('read_file', { path: '/b', offset: 9 })).toBe(
      '/b: lines 9-10 of 10, 20 bytes\n 9→b\n10→b\n',
    )
  })

  it('tells CRLF, a missing line end, and hides a byte order mark', async () => {
    const bench = await withFiles({ '/a': '\uFEFFx\r\ny' })
    expect(await bench.show('read_file', { path: '/a' })).toBe(
      '/a: lines 1-2 of 2, 7 bytes, CRLF line ends, no line end at the end\n1→x\n2→y\n',
    )
  })

  it('names the next call', async () => {
    const bench = await withFiles({ '/a': 'l\n'.repeat(5000) })
    const first = await bench.show('read_file', { path: '/a' })
    expect(first).toContain('lines 1-2000 of 5000')
    expect(first).toContain('[lines 2001 to 5000 not shown; continue with offset: 2001]')
    const limited = await bench.show('read_file', { path: '/a', offset: 5, limit: 10 })
    expect(limited).toContain('continue with offset: 15, limit: 10]')
    expect(await bench.show('read_file', { path: '/a', offset: 9999 })).toContain('5000 lines')
  })

  it('splits long lines, counts source lines, and goes on within a line', async () => {
    const bench = await withFiles({ '/a': `${'x'.repeat(5000)}\ny\n`, '/b': 'z'.repeat(70_000) })
    const split = await bench.show('read_file', { path: '/a' })
    expect(split.split('\n').map((line) => line.length)).toEqual([30, 2002, 2002, 1002, 3, 0])
    expect(split).toContain('2→y')
    const cut = await bench.show('read_file', { path: '/b' })
    expect(cut).toContain('continue with offset: 1, column: 30001]')
  })

  it('keeps every result within its budget', async () => {
    const bench = await withFiles({
      '/a': 'word '.repeat(6).concat('\n').repeat(5000),
      '/b': 'z'.repeat(70_000),
      '/c': '\n'.repeat(100_000),
    })
    for (const path of ['/a', '/b', '/c']) {
      const text = await bench.show('read_file', { path, limit: 1_000_000 })
      expect(text.length).toBeLessThan(31_000)
    }
  })

  it('names binary files and refuses directories', async () => {
    const bench = await withFiles({ '/d/bin': new Uint8Array([1, 0, 2]) })
    expect(await bench.show('read_file', { path: '/d/bin' })).toBe(
      '/d/bin: binary file, 3 bytes; not shown',
    )
    expect(await bench.code('read_file', { path: '/d' })).toBe('is-directory')
    expect(await bench.code('read_file', { path: '/none' })).toBe('not-found')
    expect(await bench.code('read_file', { path: '/../x' })).toBe('path-escape')
  })

  it('shows an empty file', async () => {
    const bench = await withFiles({ '/e': '' })
    expect(await bench.show('read_file', { path: '/e' })).toBe('/e: empty file, 0 lines')
  })

  const texts = fc
    .array(fc.constantFrom('a', '\n', '\r\n', 'é', '\u{1F600}', 'word '.repeat(9)), {
      maxLength: 60,
    })
    .map((list) => list.join(''))

  it.each([10, 0.00001])('reads any file by pages (limit %d MB)', async (maxFileSizeMb) => {
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 5 }), async (text, limit) => {
        const bench = await withFiles({ '/a': text }, { maxFileSizeMb })
        let joined = ''
        let next: object | undefined = {}
        while (next !== undefined) {
          const input: object = { path: '/a', ...next, limit }
          const { page }: ReadFileOutput = await bench.call('read_file', input)
          joined += page?.content ?? ''
          next = page?.next
        }
        expect(joined).toBe(text)
        const isLarge = Buffer.byteLength(text) > maxFileSizeMb * 1_048_576
        expect(bench.fs.calls.includes('readStream /a')).toBe(isLarge)
        expect(bench.ledger.knows('main', '/a')).toBe(true)
      }),
    )
  })
})

describe('ls', () => {
  it('shows types and sizes', async () => {
    const bench = await withFiles({ '/b': '123', '/a/x': '' })
    expect(await bench.show('ls', { path: '/' })).toBe('/: 2 entries\na/\nb  3')
    expect(await bench.show('ls', { path: '/a' })).toBe('/a: 1 entries\nx  0')
    expect(await new ToolBench().show('ls', { path: '/' })).toBe('/: empty directory')
  })

  it('comes in parts that are the whole', async () => {
    const bench = new ToolBench()
    for (let i = 0; i < 2500; i += 1) await bench.fs.writeFile(`/f${i}`, '')
    const names: string[] = []
    let offset = 1
    for (;;) {
      const output = await bench.call<LsOutput>('ls', { path: '/', offset })
      names.push(...output.entries.map((entry) => entry.name))
      const text = await bench.show('ls', { path: '/', offset })
      const next = /offset: (\d+)\]$/.exec(text)?.[1]
      if (next === undefined) break
      offset = Number(next)
    }
    expect(names).toEqual([...bench.fs.files.keys()].map((path) => path.slice(1)).toSorted())
  })
})

describe('glob', () => {
  it('finds directories when the pattern ends with a slash', async () => {
    const bench = new ToolBench({ pathRules: [{ pattern: '/secret/**', access: 'none' }] })
    const files = ['/src/lib/a.ts', '/src/lib/deep/b.ts', '/src/test/c.ts', '/test/d.ts', '/top.ts']
    for (const path of [...files, '/secret/test/x']) {
      await bench.fs.writeFile(path, '')
    }
    expect(await bench.show('glob', { pattern: '**/test/' })).toBe(
      '2 directories\n/src/test/\n/test/',
    )
    expect(await bench.show('glob', { pattern: 'src/*/' })).toBe(
      '2 directories\n/src/lib/\n/src/test/',
    )
    expect(await bench.show('glob', { pattern: '*/', path: '/src/lib' })).toBe(
      '1 directory\n/src/lib/deep/',
    )
    expect(await bench.show('glob', { pattern: 'none/' })).toBe(
      'no directory with files in it matches none/',
    )
    const all = await bench.call<GlobOutput>('glob', { pattern: '**/' })
    expect(all.paths).toEqual(['/src/', '/src/lib/', '/src/lib/deep/', '/src/test/', '/test/'])
    expect(await bench.code('glob', { pattern: '../*/' })).toBe('path-escape')
  })

  it('finds files and says what is missing', async () => {
    const bench = await withFiles({ '/src/a.ts': '', '/src/b.js': '', '/c.ts': '' })
    expect(await bench.show('glob', { pattern: '**/*.ts' })).toBe('2 files\n/c.ts\n/src/a.ts')
    expect(await bench.show('glob', { pattern: '*.js', path: '/src' })).toBe('1 file\n/src/b.js')
    expect(await bench.show('glob', { pattern: '*.md' })).toBe('no file matches *.md')
    for (let i = 0; i < 1200; i += 1) await bench.fs.writeFile(`/many/${i}`, '')
    const first = await bench.show('glob', { pattern: 'many/*' })
    expect(first).toContain('1200 files')
    expect(first).toContain('[files 1001-1200 not shown: offset: 1001]')
    const rest = await bench.call<GlobOutput>('glob', { pattern: 'many/*', offset: 1001 })
    expect(rest.paths).toHaveLength(200)
    expect(await bench.code('glob', { pattern: '../*' })).toBe('path-escape')
    expect(await bench.code('glob', { pattern: '[' })).toBe('invalid-pattern')
  })
})

describe('grep', () => {
  it.each([
    ['a\nb', 'regex'],
    ['a\\nb', 'regex'],
    ['a\r\nb', 'literal'],
    ['(a|\\n)c', 'regex'],
  ])('says that lines are tested one by one when %j finds nothing (%s)', async (pattern, mode) => {
    const bench = new ToolBench()
    await bench.fs.writeFile('/f', 'a\nb\n')
    const shown = await bench.show('grep', { pattern, opts: { mode } })
    expect(shown).toMatch(/^no line matches; .*each line is tested alone/)
  })

  it.each([
    ['x[^\\n]*', 'regex'],
    ['x\\\\n', 'regex'],
    ['x\\n', 'literal'],
  ])('says nothing of lines when %j finds nothing (%s)', async (pattern, mode) => {
    const bench = new ToolBench()
    await bench.fs.writeFile('/f', 'a\nb\n')
    expect(await bench.show('grep', { pattern, opts: { mode } })).toBe('no line matches')
  })

  it('groups matches by file', async () => {
    const bench = await withFiles({ '/a': 'x\nfoo\ny\nfoo', '/b': 'foo' })
    expect(await bench.show('grep', { pattern: 'fo+' })).toBe(
      '3 lines match, these in 2 files\n/a\n  2→foo\n  4→foo\n/b\n  1→foo',
    )
    expect(await bench.show('grep', { pattern: 'none' })).toBe('no line matches')
    expect(await bench.code('grep', { pattern: '(' })).toBe('invalid-pattern')
  })

  it('shows each line of context once', async () => {
    const bench = await withFiles({ '/a': 'a\nM\nb\nM\nc\nd\ne\nf\nM\n' })
    const text = await bench.show('grep', { pattern: 'M', opts: { context: 1 } })
    expect(text.split('\n').slice(1)).toEqual([
      '/a',
      '  1-a',
      '  2→M',
      '  3-b',
      '  4→M',
      '  5-c',
      '  --',
      '  8-f',
      '  9→M',
    ])
  })

  it('says what is missing and how to get it', async () => {
    const bench = await withFiles({ '/a': 'foo\n'.repeat(500), '/z': new Uint8Array([0]) })
    const first = await bench.show('grep', { pattern: 'foo', opts: { maxResults: 30 } })
    expect(first).toContain('more than 30 lines match')
    expect(first).toContain('opts.offset: 31')
    const rest = await bench.call<GrepOutput>('grep', {
      pattern: 'foo',
      opts: { maxResults: 30, offset: 31 },
    })
    expect(rest.matches[0]?.lineNumber).toBe(31)
    expect(rest.countIsComplete).toBe(false)
    expect(first).toContain('[1 files not searched, binary: /z]')
    const zero = await bench.show('grep', { pattern: 'foo', opts: { maxResults: 0 } })
    expect(zero).toContain('more than 0 lines match')
  })

  it('counts exactly as many matches as asked for, also beside a file that is skipped', async () => {
    const bench = await withFiles({ '/a': 'foo\n'.repeat(30), '/z': new Uint8Array([0]) })
    const opts = { maxResults: 30 }
    const text = await bench.show('grep', { pattern: 'foo', opts })
    expect(text).toMatch(/^30 lines match, these in 1 file\n/)
    expect(text).not.toContain('more matches')
    const { found, hasMore } = await bench.call<GrepOutput>('grep', { pattern: 'foo', opts })
    expect({ found, hasMore }).toEqual({ found: 30, hasMore: false })
  })

  it('keeps long lines and many matches within the budget', async () => {
    const bench = await withFiles({ '/min.js': `foo${'x'.repeat(1_000_000)}\n`.repeat(3) })
    expect((await bench.show('grep', { pattern: 'foo' })).length).toBeLessThan(2000)
    await bench.fs.writeFile('/b', `foo ${'y'.repeat(300)}\n`.repeat(200))
    const text = await bench.show('grep', { pattern: 'foo', opts: { path: '/b' } })
    expect(text.length).toBeLessThan(31_000)
    const next = Number(/opts\.offset: (\d+)/.exec(text)?.[1])
    const shown = text.match(/→foo/g)!.length
    expect(next).toBe(shown + 1)
  })

  it('names files that are too large', async () => {
    const bench = await withFiles({ '/a': 'foo' }, { maxGrepFileSizeMb: 0.000001 })
    expect(await bench.show('grep', { pattern: 'foo' })).toContain('too large')
  })

  it('skips smaller files when asked to, and never larger ones than the workspace allows', async () => {
    const kilobyte = 1 / 1024
    const files = { '/a': 'foo', '/b': `foo${'x'.repeat(1500)}`, '/c': `foo${'x'.repeat(3000)}` }
    const bench = await withFiles(files, { maxGrepFileSizeMb: 2 * kilobyte })
    const skippedWith = async (maxGrepFileSizeMb: number) => {
      const opts = { maxGrepFileSizeMb }
      return (await bench.call<GrepOutput>('grep', { pattern: 'foo', opts })).skippedPaths
    }
    expect(await skippedWith(kilobyte)).toEqual(['/b', '/c'])
    expect(await skippedWith(500)).toEqual(['/c'])
  })
})

describe('stat', () => {
  it('tells everything of a file', async () => {
    const bench = await withFiles({ '/a': 'foo' })
    expect(await bench.show('stat', { path: 'a' })).toBe(
      '/a: file, 3 bytes, changed 1970-01-01T00:00:00.000Z, version v1',
    )
  })
})
