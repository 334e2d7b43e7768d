import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import { compileGlob } from '../../../../src/modules/fs/search/glob.ts'

/** Pieces of patterns, and what they mean. */
const regexOf: Readonly<Record<string, string>> = {
  a: 'a',
  b: 'b',
  '.': '\\.',
  '-': '-',
  '*': '[^/]*',
  '?': '[^/]',
  '[ab]': '[ab]',
  '[!a]': '[^a/]',
  '[^b]': '[^b/]',
  '[--.]': '[-.]',
  '{a,b}': '(?:a|b)',
  '{a,.*}': '(?:a|\\.[^/]*)',
  '{b,a{b,-}}': '(?:b|a(?:b|-))',
}

function nameRegex(tokens: readonly string[], isLast: boolean): string {
  if (tokens[0] === '**') return isLast ? '[^/]+(?:/[^/]+)*' : '(?:[^/]+/)*'
  return tokens.map((token) => regexOf[token]).join('') + (isLast ? '' : '/')
}

const textOf = (tokens: readonly string[][]) => tokens.map((list) => list.join('')).join('/')

describe('compileGlob', () => {
  it.each([
    ['**/*.ts', ['a.ts', 'a/b.ts', '.x/y.ts'], ['a.js', 'ts', 'a.ts/b']],
    ['*.ts', ['a.ts', '.ts'], ['a/b.ts']],
    ['src/**', ['src/a', 'src/a/b'], ['src', 'srcs/a', 'a/src/b']],
    ['src/**/test/*.js', ['src/test/a.js', 'src/a/b/test/c.js'], ['src/test/a/b.js']],
    ['**', ['a', 'a/b', '.git/config'], []],
    ['**/a/**/b', ['a/b', 'x/a/y/z/b', 'a/a/b/b'], ['a', 'b', 'a/b/c']],
    ['{a,b}/*.{js,ts}', ['a/x.js', 'b/y.ts'], ['c/x.js', 'a/x.md']],
    ['{a,{b,c}d}', ['a', 'bd', 'cd'], ['b', 'ad']],
    ['a{,.txt}', ['a', 'a.txt'], ['a.']],
    ['{a}', ['{a}'], ['a']],
    ['\\{a,b\\}', ['{a,b}'], ['a']],
    ['[a-c]?', ['ax', 'b\u{1F600}'], ['dx', 'a']],
    ['[!a]', ['b', '!'], ['a']],
    ['[^a]', ['b'], ['a']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a\\]]', [']', 'a'], ['\\']],
    ['\\*', ['*'], ['a']],
    ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['ab', 'abcd']],
    ['/src/a', ['src/a'], ['a']],
    ['./src/a', ['src/a'], []],
    ['a//b', ['a/b'], []],
    ['+(a)', ['+(a)'], ['a']],
    ['constructor', ['constructor'], ['a']],
  ])('%s', (pattern, yes, no) => {
    const glob = compileGlob(pattern)
    expect(yes.filter((path) => !glob.matches(path))).toEqual([])
    expect(no.filter((path) => glob.matches(path))).toEqual([])
  })

  it.each([
    ['src/lib/**/*.ts', 'src/lib'],
    ['*.ts', ''],
    ['src/a.ts', 'src'],
    ['src/**', 'src'],
    ['{src/a,src/b}/*.ts', 'src'],
    ['{a,b}/c', ''],
    ['a/b[c]/d', 'a'],
    ['**', ''],
  ])('starts %s at %j', (pattern, base) => {
    expect(compileGlob(pattern).base).toBe(base)
  })

  it.each([
    ['src/*.ts', '', true],
    ['src/*.ts', 'src', true],
    ['src/*.ts', 'src/a', false],
    ['src/*.ts', 'lib', false],
    ['src/**', 'src/a/b', true],
    ['{a,b/**}', 'b/c', true],
    ['{a,b/**}', 'a', false],
    ['a*/b', 'ax', true],
  ])('%s may lie below %j: %s', (pattern, directory, expected) => {
    expect(compileGlob(pattern).mayContain(directory)).toBe(expected)
  })

  it.each([
    ['', 'invalid-pattern'],
    ['[a', 'invalid-pattern'],
    ['a\0', 'invalid-pattern'],
    ['a'.repeat(1025), 'invalid-pattern'],
    ['{a,b}'.repeat(8), 'invalid-pattern'],
    ['{{a,b},{c,d}}'.repeat(70), 'invalid-pattern'],
    ['../a', 'path-escape'],
    ['a/{b,..}/c', 'path-escape'],
  ])('refuses %j', (pattern, code) => {
    let error: unknown
    try {
      compileGlob(pattern)
    } catch (thrown) {
      error = thrown
    }
    expect(FileSystemError.isInstance(error) && error.code).toBe(code)
  })

  it.each([
    ['*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(255)],
    [`${'*a'.repeat(500)}b`, 'a'.repeat(255)],
    [`${'**/a/'.repeat(200)}b`, `${'a/'.repeat(2000)}c`],
    [`{${'*a'.repeat(20)},${'?*'.repeat(20)}}{x,y}{x,y}{x,y}{x,y}`, 'a'.repeat(255)],
  ])('takes no exponential time for %s', (pattern, path) => {
    const glob = compileGlob(pattern)
    const start = performance.now()
    glob.matches(path)
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  const names = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 4 })
  const paths = fc
    .array(
      names.filter((name) => name !== '.' && name !== '..'),
      { minLength: 1, maxLength: 4 },
    )
    .map((list) => list.join('/'))
  const patternName = fc.oneof(
    fc.constant<string[]>(['**']),
    fc
      .array(fc.constantFrom(...Object.keys(regexOf)), { minLength: 1, maxLength: 4 })
      .filter((tokens) => !['.', '..', '**'].includes(tokens.join(''))),
  )
  const patterns = fc
    .array(patternName, { minLength: 1, maxLength: 4 })
    // Fewer alternatives than would be refused.
    .filter((tokens) => textOf(tokens).split('{').length <= 7)

  it('agrees with a regular expression', () => {
    fc.assert(
      fc.property(patterns, paths, (tokens, path) => {
        const parts = tokens.map((list, index) => nameRegex(list, index === tokens.length - 1))
        const model = new RegExp(`^${parts.join('')}$`)
        const pattern = textOf(tokens)
        expect({ path, pattern, matches: compileGlob(pattern).matches(path) }).toEqual({
          path,
          pattern,
          matches: model.test(path),
        })
      }),
      { numRuns: 5000 },
    )
  })

  it('never prunes what matches, and starts above it', () => {
    fc.assert(
      fc.property(patterns, paths, (tokens, path) => {
        const glob = compileGlob(textOf(tokens))
        fc.pre(glob.matches(path))
        const parts = path.split('/')
        for (let i = 0; i < parts.length; i += 1) {
          expect(glob.mayContain(parts.slice(0, i).join('/'))).toBe(true)
        }
        expect(glob.base === '' || path.startsWith(`${glob.base}/`)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('named classes', () => {
  it.each([
    ['[[:alpha:]]', 'aZé漢', '1_-.'],
    ['[[:digit:]x]', '09x', 'a'],
    ['[![:digit:]]', 'a-', '5'],
    ['[^[:space:]]', 'a', ' '],
    ['[[:upper:][:digit:]]', 'A1', 'a'],
    ['[a[:punct:]]', 'a!~', 'b'],
    ['[[:xdigit:]-]', 'fF9-', 'g'],
    ['[[:alnum:]_]', 'aé9_', '-'],
    ['[[]', '[', ':'],
    ['[[:]', '[:', 'a'],
  ])('%s', (pattern, members, others) => {
    const glob = compileGlob(pattern)
    expect(Array.from(members).filter((name) => !glob.matches(name))).toEqual([])
    expect(Array.from(others).filter((name) => glob.matches(name))).toEqual([])
  })

  it('refuses a name that is none', () => {
    for (const pattern of ['[[:letter:]]', '[[.a.]]', '[[=a=]]']) {
      expect(() => compileGlob(pattern)).toThrow(
        expect.objectContaining({ code: 'invalid-pattern' }),
      )
    }
    expect(() => compileGlob('[[:letter:]]')).toThrow(/\[:alpha:\]/)
  })
})
