import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import type { GrepOptions } from '../../../../src/modules/fs/contract.ts'
import { GrepCollector } from '../../../../src/modules/fs/search/grep-collector.ts'
import { compileSearch } from '../../../../src/modules/fs/search/search.ts'
import { requiredLiteralOf } from '../../../../src/modules/fs/search/required-literal.ts'

async function grep(pattern: string, text: string, options: GrepOptions = {}) {
  const search = await compileSearch(pattern, options)
  const collector = new GrepCollector(options)
  await search.search('/f', text, collector)
  return collector.result()
}

const found = async (pattern: string, text: string, options?: GrepOptions) =>
  (await grep(pattern, text, options)).matches.map((match) => `${match.lineNumber}:${match.line}`)

describe('compileSearch', () => {
  it.each([
    ['^a$', 'a\nba\na', ['1:a', '3:a']],
    ['^$', 'a\n\nb\n', ['2:']],
    ['^$', 'a\n', []],
    ['^$', '', []],
    ['a$', 'a\r\nxa\r\n', ['1:a', '2:xa']],
    ['a$', 'a\r', []],
    ['^foo', '\uFEFFfoo\nfoo', ['1:foo', '2:foo']],
    ['b\\s+c', 'b\nc\nb c', ['3:b c']],
    ['a\\nb', 'a\nb', []],
    ['x|y', 'x\ny\nz', ['1:x', '2:y']],
    ['\\Aa', 'a\nab', ['1:a', '2:ab']],
    ['a\\z', 'a\nba\nb', ['1:a', '2:ba']],
    ['(?i)ABC', 'xabc', ['1:xabc']],
    ['\\d{3}', '12\n123', ['2:123']],
    ['é+', 'caféé', ['1:caféé']],
    ['colou?r', 'color\ncolour\ncolr', ['1:color', '2:colour']],
    ['\\bfoo\\b', 'foo\nfoobar', ['1:foo']],
    ['\\QA.B\\E', 'A.B\nAxB', ['1:A.B']],
  ])('finds /%s/ in %j', async (pattern, text, expected) => {
    expect(await found(pattern, text)).toEqual(expected)
  })

  it('takes a literal as it stands', async () => {
    const options: GrepOptions = { mode: 'literal' }
    expect(await found('a.b($', 'a.b($\naxb', options)).toEqual(['1:a.b($'])
    expect(await found('a\nb', 'a\nb', options)).toEqual([])
    expect(await found('a\r', 'a\r\na\r', options)).toEqual(['2:a\r'])
  })

  it('folds case like RE2, for literals and expressions', async () => {
    const text = 'STRASSE\nkelvin \u212A\n\u017Fet\nnone\n'
    for (const mode of ['literal', 'regex'] as const) {
      expect(await found('k', text, { mode, ignoreCase: true })).toEqual(['2:kelvin \u212A'])
      expect(await found('set', text, { mode, ignoreCase: true })).toEqual(['3:\u017Fet'])
      expect(await found('straSSe', text, { mode, ignoreCase: true })).toEqual(['1:STRASSE'])
    }
  })

  it('gives context without line ends', async () => {
    const result = await grep('c', '\uFEFFa\r\nb\r\nc\r\nd\r\ne', { context: 2 })
    expect(result.matches).toEqual([
      { path: '/f', lineNumber: 3, line: 'c', before: ['a', 'b'], after: ['d', 'e'] },
    ])
    const edge = await grep('a', 'a\nb\n', { context: 3 })
    expect(edge.matches[0]).toMatchObject({ before: [], after: ['b'] })
    const blank = await grep('b', '\n\nb', { context: 9 })
    expect(blank.matches[0]).toMatchObject({ before: ['', ''], after: [] })
  })

  it('says whether the count is complete', async () => {
    const text = 'a\na\na\n'
    expect(await grep('a', text, { maxResults: 3 })).toMatchObject({ countIsComplete: true })
    const cut = await grep('a', text, { maxResults: 2 })
    expect(cut.matches).toHaveLength(2)
    expect(cut.countIsComplete).toBe(false)
    expect(await grep('a', text, { maxResults: 0 })).toMatchObject({
      matches: [],
      countIsComplete: false,
    })
    expect(await grep('b', text, { maxResults: 0 })).toMatchObject({ countIsComplete: true })
  })

  it('counts skipped files as incomplete and sorts by path', async () => {
    const search = await compileSearch('a', {})
    const collector = new GrepCollector({})
    await search.search('/z', 'a', collector)
    await search.search('/b', 'a\na', collector)
    collector.skipBinary('/bin')
    collector.skipLarge('/y')
    collector.skipLarge('/x')
    const result = collector.result()
    expect(result.matches.map((m) => m.path + m.lineNumber)).toEqual(['/b1', '/b2', '/z1'])
    expect(result.skippedPaths).toEqual(['/x', '/y'])
    expect(result.skippedBinaryPaths).toEqual(['/bin'])
    expect(result.countIsComplete).toBe(false)
  })

  it('takes a pattern of 10,000 characters, and no longer one', async () => {
    for (const mode of ['literal', 'regex'] as const) {
      const search = await compileSearch('x'.repeat(10_000), { mode })
      expect(search.requiredLiteral?.text).toBe('x'.repeat(64))
      await expect(compileSearch('x'.repeat(10_001), { mode })).rejects.toMatchObject({
        code: 'invalid-pattern',
        message: expect.stringContaining('a pattern has 1 to 10000 characters'),
      })
    }
  })

  it.each(['(a', '(?=a)', 'a{1,100000}', '(a)\\1', '[z-a]', '*a', ''])(
    'refuses %j with a readable reason',
    async (pattern) => {
      const error: unknown = await compileSearch(pattern, {}).catch((thrown: unknown) => thrown)
      expect(FileSystemError.isInstance(error) && error.code).toBe('invalid-pattern')
    },
  )

  it.each([
    '(a+)+$',
    '(a|aa)+$',
    '(a|a?)+$',
    '(.*a){12}$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '[ab]*a[ab]{20}c',
    '(a?){30}a{30}c',
    '\\w+\\s*\\w+\\s*\\w+#',
  ])('takes no exponential time for %s on a long line', async (pattern) => {
    const bait = 'a'.repeat(1 << 20)
    const search = await compileSearch(pattern, {})
    for (const text of [`${bait}!`, `${bait}\r\n`, 'ab'.repeat(1 << 19)]) {
      // Processor time: a busy machine must not look like an exponential pattern.
      const start = process.cpuUsage()
      await search.search('/f', text, new GrepCollector({}))
      expect(process.cpuUsage(start).user / 1000).toBeLessThan(10_000)
    }
  })

  it('filters by includeGlob', async () => {
    const byName = await compileSearch('a', { includeGlob: '*.{ts,js}' })
    expect(byName.includes('/deep/down/a.ts')).toBe(true)
    expect(byName.includes('/a.md')).toBe(false)
    const byPath = await compileSearch('a', { includeGlob: 'lib/**/*.ts', path: '/src' })
    expect(byPath.includes('/src/lib/x/a.ts')).toBe(true)
    expect(byPath.includes('/lib/x/a.ts')).toBe(false)
    const absolute = await compileSearch('a', { includeGlob: '/src/**', path: '/src' })
    expect(absolute.includes('/src/a')).toBe(true)
  })
})

describe('requiredLiteralOf', () => {
  it.each([
    ['function\\s+baseIs[A-Z]\\w+\\(', 'function'],
    ['xa+yz', 'ayz'],
    ['colou?r', 'colo'],
    ['foo|bar', undefined],
    ['(?i)foo', undefined],
    ['(foo)+bar', 'bar'],
    ['a\\.b', 'a.b'],
    ['[abc]', undefined],
    ['ab{0,1}cd', 'cd'],
    ['\\Qa|b\\E', undefined],
    ['[]a]foo', 'foo'],
    ['[[:alpha:]]foo', undefined],
    ['(a|b)foo', 'foo'],
    ['(a', undefined],
  ])('of /%s/ is %j', (pattern, expected) => {
    expect(requiredLiteralOf(pattern)).toBe(expected)
  })

  it('never rules out a line that matches', async () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      'ab',
      '.',
      '\\.',
      '[ab]',
      '[^a]',
      '(a)',
      '(?:b|a)',
      'a+',
      'b*',
      'a?',
      'b{2}',
      '^',
      '$',
      '\\w',
      '\\b',
      '\\(',
      'a{0}',
      'b+?',
      '(?i:A)',
      '\\t',
      ' ',
    )
    const patterns = fc.array(piece, { minLength: 1, maxLength: 5 }).map((list) => list.join(''))
    const lines = fc.array(fc.constantFrom('a', 'b', '.', '(', ' ', 'A', '\r', '\n'), {
      maxLength: 30,
    })
    const { RE2JS } = await import('re2js')
    await fc.assert(
      fc.asyncProperty(patterns, lines, fc.boolean(), async (pattern, parts, ignoreCase) => {
        let engine
        try {
          engine = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
        } catch {
          return
        }
        const text = parts.join('')
        const all = text.split('\n')
        if (all.at(-1) === '') all.pop()
        const model = all
          .map((line, index) => ({ line, index }))
          .map(({ line, index }) => ({
            index,
            line: text.split('\n').length - 1 > index ? line.replace(/\r$/, '') : line,
          }))
          .filter(({ line }) => engine.test(line))
          .map(({ line, index }) => `${index + 1}:${line}`)
        expect(await found(pattern, text, { ignoreCase })).toEqual(model)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('against grep', () => {
  const folder = dirname(fileURLToPath(import.meta.resolve('fast-check')))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .slice(0, 150)

  it.each(['function\\s+\\w+\\(', 'return', '^import .*;$', 'Arbitrary|Random', '[0-9]{4,}'])(
    'finds the same lines for %s',
    async (pattern) => {
      const search = await compileSearch(pattern, {})
      const ours = new GrepCollector({ maxResults: 1e6 })
      for (const name of files) {
        await search.search(name, readFileSync(join(folder, name), 'utf8'), ours)
      }
      const output = execFileSync('grep', ['-n', '-H', '-P', pattern, '--', ...files], {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 1 << 28,
        env: { LC_ALL: 'C.UTF-8', PATH: process.env.PATH },
      })
      const theirs = output.split('\n').filter((line) => line !== '')
      const mine = ours.result().matches.map((m) => `${m.path}:${m.lineNumber}:${m.line}`)
      expect(mine.toSorted()).toEqual(theirs.toSorted())
      expect(mine.length).toBeGreaterThan(5)
    },
  )
})
