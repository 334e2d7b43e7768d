import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import {
  baseName,
  compareCodePoints,
  isWithin,
  joinPath,
  normalizePath,
  parentPath,
} from '../../../../src/modules/fs/path/path.ts'

function outcome(path: string): string {
  try {
    return normalizePath(path)
  } catch (error) {
    if (FileSystemError.isInstance(error)) return error.code
    throw error
  }
}

/** Spellings that climb past the root, in every dress. */
const climbs = ['..', '../a', 'a/../..', 'a/../../b', 'a/b/../../..', './..', '..//', '.././a']
const dresses: ((path: string) => string)[] = [
  (path) => path,
  (path) => `/${path}`,
  (path) => `//${path}`,
  (path) => `./${path}`,
  (path) => `/./${path}`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}/../..`,
  (path) => `é/../${path}`,
  (path) => `x/..//./${path}/etc/passwd`,
  (path) => `${path}/\u202E/..`,
]
const escapes = climbs.flatMap((path) => dresses.map((dress) => dress(path)))

/** What looks like an escape and is a name. */
const plainNames: [string, string][] = [
  '...',
  '. .',
  '.. ',
  ' ..',
  '..a',
  'a..',
  '..\\..\\etc',
  '\\..\\a',
  'C:\\Windows',
  'C:',
  '%2e%2e',
  '%2e%2e%2fetc',
  '..%2f..',
  '..;',
  '~',
  '$HOME',
  '`id`',
  '\u2024\u2024',
  '\uFF0E\uFF0E',
  '\u2025',
  '..\uFF0F..',
  '\u2215',
  '\u29F5..',
  '..\u200B',
  '\u200B..',
  '..\u0301',
  '\uFEFF..',
  '..\n',
  '\r..',
  '\t',
  ' ',
  '-rf',
  '--',
  '*',
  '[a]',
  'CON',
  'nul',
  'a:b',
  '::$DATA',
  '..:',
  '"..“',
  "'",
  'é',
  'e\u0301',
  '\u{1F600}',
  '\u202Etxt',
  '__proto__',
  'constructor',
  '.git',
  '.helix',
  '\u0001',
  '\u007F',
  '\u0085',
  '\u2028',
].map((name) => [name, `/${name}`])

const normal: [string, string][] = [
  ['/', '/'],
  ['//', '/'],
  ['.', '/'],
  ['./', '/'],
  ['/.', '/'],
  ['/./.', '/'],
  ['a', '/a'],
  ['a/b', '/a/b'],
  ['/a/b/', '/a/b'],
  ['/a//b', '/a/b'],
  ['//a', '/a'],
  ['///a///', '/a'],
  ['/a/./b', '/a/b'],
  ['/a/.', '/a'],
  ['/a/..', '/'],
  ['/a/../', '/'],
  ['/a/../b', '/b'],
  ['/a/b/../../c', '/c'],
  ['a/b/c/../../../d', '/d'],
  ['/a/.b', '/a/.b'],
  ['/.a', '/.a'],
  ['/..a/b', '/..a/b'],
  ['/a/.../b', '/a/.../b'],
]

const long = 'n'.repeat(255)
const invalid: [string, string][] = [
  ['empty', ''],
  ['NUL', '\0'],
  ['NUL inside', '/a\0b'],
  ['NUL after climb', '/a/..\0/b'],
  ['NUL at the end', '/a.txt\0'],
  ['NUL before an extension', '/a\0.png'],
  ['a lone high surrogate', '/\uD800'],
  ['a lone low surrogate', '/a\uDC00b'],
  ['swapped surrogates', '/\uDC00\uD800'],
  ['a name of 256 bytes', `/${long}n`],
  ['a name of 256 bytes in 128 characters', `/${'é'.repeat(128)}`],
  ['a name of 256 bytes in 64 emoji', `/${'\u{1F600}'.repeat(64)}`],
  ['a long name in the middle', `/a/${long}n/b`],
  ['a path of 4,097 bytes', `/${`${'d'.repeat(63)}/`.repeat(64)}`],
  ['a path of 4,097 bytes that is short once resolved', `${'/.'.repeat(2048)}a`],
  ['a path of a million characters', `/${'a/'.repeat(500_000)}`],
  ['a million climbs', '../'.repeat(1_000_000)],
]

const accepted: [string, string][] = [
  ['a name of 255 bytes', `/${long}`],
  ['a name of 254 bytes in 127 characters', `/${'é'.repeat(127)}`],
  ['a name of 252 bytes in 63 emoji', `/${'\u{1F600}'.repeat(63)}`],
  [
    'a path of 4,096 bytes',
    `/${`${'d'.repeat(63)}/`.repeat(64)}`.slice(0, 4096).replace(/\/$/, 'd'),
  ],
]

describe('normalizePath', () => {
  it.each(escapes)('refuses to climb with %j', (path) => {
    expect(outcome(path)).toBe('path-escape')
  })
  it.each(plainNames)('takes %j as a name', (path, expected) => {
    expect(outcome(path)).toBe(expected)
    expect(outcome(`/a/${path}/b`)).toBe(`/a${expected}/b`)
  })
  it.each(normal)('makes %j into %j', (path, expected) => {
    expect(outcome(path)).toBe(expected)
  })
  it.each(invalid)('refuses %s', (_what, path) => {
    expect(outcome(path)).toBe('invalid-path')
  })
  it.each(accepted)('accepts %s', (_what, path) => {
    expect(outcome(path)).toBe(path)
  })

  it('holds more than 200 cases', () => {
    const tables = [escapes, plainNames, plainNames, normal, invalid, accepted]
    expect(tables.flat().length).toBeGreaterThan(200)
  })

  const name = fc.oneof(
    fc.constantFrom('', '.', '..', '...', 'a', 'b', '\\', '..\\', '\0', 'é', '\uD800', ' '),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const paths = fc.array(name, { maxLength: 12 }).map((names) => names.join('/'))

  it('never escapes, and changes nothing the second time', () => {
    fc.assert(
      fc.property(paths, (path) => {
        const result = outcome(path)
        if (!result.startsWith('/')) return
        expect(result.split('/').some((part) => part === '.' || part === '..')).toBe(false)
        expect(result).not.toMatch(/\/\/|\0|.\/$/)
        expect(normalizePath(result)).toBe(result)
        expect(joinPath(parentPath(result), baseName(result))).toBe(result)
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees with a walk that counts names', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', '', 'a', 'bc')), (names) => {
        const stack: string[] = []
        let isEscape = false
        for (const part of names) {
          if (part === '..') isEscape ||= stack.pop() === undefined
          else if (part !== '' && part !== '.') stack.push(part)
        }
        expect(outcome(`/${names.join('/')}`)).toBe(
          isEscape ? 'path-escape' : `/${stack.join('/')}`,
        )
      }),
    )
  })
})

const byCodePoints = (a: string, b: string): number => {
  const left = Array.from(a, (c) => c.codePointAt(0)!)
  const right = Array.from(b, (c) => c.codePointAt(0)!)
  const i = left.findIndex((point, index) => point !== right[index])
  return i < 0 ? left.length - right.length : right[i] === undefined ? 1 : left[i]! - right[i]
}

describe('path parts', () => {
  it.each([
    ['/', '/', ''],
    ['/a', '/', 'a'],
    ['/a/b', '/a', 'b'],
  ])('splits %s', (path, parent, name) => {
    expect([parentPath(path), baseName(path)]).toEqual([parent, name])
  })

  it.each([
    ['/a', '/', true],
    ['/', '/', true],
    ['/a', '/a', true],
    ['/a/b', '/a', true],
    ['/ab', '/a', false],
    ['/a0', '/a', false],
    ['/a b', '/a', false],
    ['/A', '/a', false],
    ['/', '/a', false],
  ])('%s within %s: %s', (path, directory, expected) => {
    expect(isWithin(path, directory)).toBe(expected)
  })

  it('orders by code point, not by UTF-16 unit', () => {
    const names = ['\u{1F600}', '\uFFFD', 'b', 'a', 'ab', '', '\uE000', '\uD7FF']
    expect(names.toSorted(compareCodePoints)).toEqual(names.toSorted(byCodePoints))
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(byCodePoints(a, b)))
      }),
    )
  })
})

describe('a spelling that is longer than the path', () => {
  it.each([
    [`${'n'.repeat(300)}/../a`, '/a'],
    [`${'x/../'.repeat(800)}a`, '/a'],
    [`${'./'.repeat(2040)}a`, '/a'],
    [`${'d/'.repeat(300)}${'../'.repeat(300)}a`, '/a'],
  ])('has the limits of what it names: %#', (path, expected) => {
    expect(normalizePath(path)).toBe(expected)
  })

  it('is itself at most 4,096 bytes, and named by an error', () => {
    expect(outcome(`${'./'.repeat(2047)}a`)).toBe('/a')
    expect(outcome(`${'./'.repeat(2048)}a`)).toBe('invalid-path')
    for (const path of [`./${'n'.repeat(256)}`, `./${'d/'.repeat(256)}a`]) {
      expect(() => normalizePath(path)).toThrow(
        expect.objectContaining({ code: 'invalid-path', path }) as Error,
      )
    }
  })
})
