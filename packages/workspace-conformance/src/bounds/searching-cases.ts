import type { BoundCase } from './bound-case.ts'
import { fillDirectory, MEGABYTE_TEXT, writeRepeated } from './hostile-files.ts'

/** A pattern whose compiled form is large. */
const LARGE_PROGRAM = '[^0]{0,1000}'.repeat(40)

const hostilePatterns: readonly (readonly [string, string])[] = [
  ['repetitions-in-a-row', LARGE_PROGRAM],
  ['repetitions-in-repetitions', '((x{1,30}){1,30})[yz]'],
  ['nested-stars', '(x+x+)+[yz]'],
  ['many-alternatives', `(${Array.from({ length: 900 }, (_, i) => `.x${i}`).join('|')})[yz]`],
  ['many-empty-groups', `${'(|x?)'.repeat(400)}[yz]`],
  ['unicode-classes', `${'[\\p{L}\\p{N}]'.repeat(60)}[yz]`],
  ['folded-classes', `(?i)${'[^a-z\\x{10000}-\\x{10FFFF}]{0,50}'.repeat(20)}[yz]`],
]

export const searchingCases: readonly BoundCase[] = [
  ...hostilePatterns.map(([what, pattern]): BoundCase => ({
    name: `grep/${what}`,
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x', textBytes / 20),
    input: () => ({ pattern }),
    results: ['ok', 'invalid-pattern'],
  })),
  {
    name: 'grep/one-long-line',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'xX', textBytes),
    input: () => ({ pattern: '(?i)x+[yz]$' }),
    results: ['ok'],
  },
  {
    name: 'grep/many-short-lines',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x\n', textBytes),
    input: () => ({ pattern: '^[^x]' }),
    results: ['ok'],
  },
  {
    name: 'grep/folded-literal',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'ſs', textBytes),
    input: () => ({ pattern: 'S'.repeat(5000), opts: { mode: 'literal', ignoreCase: true } }),
    results: ['ok', 'invalid-pattern'],
  },
  {
    name: 'grep/literal-in-a-long-line',
    prepare: ({ fs }, { slowTextBytes }) => writeRepeated(fs, '/a', 'a', slowTextBytes),
    input: () => ({
      pattern: `${'a'.repeat(900)}b${'a'.repeat(900)}`,
      opts: { mode: 'literal' },
    }),
    results: ['ok', 'invalid-pattern'],
  },
  {
    name: 'grep/every-line-matches-with-context',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x\n', textBytes),
    input: () => ({
      pattern: 'x',
      opts: { maxResults: 10_000, context: 20, offset: Number.MAX_SAFE_INTEGER - 1 },
    }),
  },
  {
    name: 'grep/long-lines-match-with-context',
    prepare: ({ fs }, { textBytes }) =>
      writeRepeated(fs, '/a', `${'x'.repeat(50_000)}\n`, textBytes),
    input: () => ({ pattern: 'x', opts: { maxResults: 10_000, context: 20 } }),
  },
  {
    name: 'grep/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ pattern: '[yz]+', opts: { includeGlob: '{**,d,*}/**/{f*l*e*,*}' } }),
    results: ['ok'],
  },
  {
    name: 'grep/binary-files',
    prepare: ({ fs }, { textBytes }) =>
      writeRepeated(fs, '/a', `${'x\n'.repeat(5000)}\0`, textBytes),
    input: () => ({ pattern: 'y' }),
    results: ['ok'],
  },
  {
    name: 'grep/a-megabyte-pattern',
    input: () => ({ pattern: MEGABYTE_TEXT }),
    results: ['invalid-pattern'],
  },
]

/** Long enough that an abort comes while it runs. */
export const abortCases: readonly BoundCase[] = [
  {
    name: 'grep/a-slow-pattern',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x', textBytes),
    input: () => ({ pattern: '([^0]{0,3}x+){2}[yz]' }),
  },
  {
    name: 'grep/a-large-tree',
    prepare: ({ fs }, { entries }) =>
      fillDirectory(fs, '/d', entries, { content: 'x'.repeat(500) }),
    input: () => ({ pattern: '([^0]{0,3}x+){2}[yz]' }),
  },
  {
    name: 'glob/a-large-tree',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries, { prefix: 'a'.repeat(100) }),
    input: () => ({ pattern: `**/${'*a'.repeat(40)}` }),
  },
]
