import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GrepMatch, GrepOptions } from '../../../../src/modules/fs/contract.ts'
import { GrepCollector } from '../../../../src/modules/fs/search/grep-collector.ts'
import { type LineSearch, scanLines } from '../../../../src/modules/fs/search/line-scan.ts'

interface Scan {
  readonly matches: readonly GrepMatch[]
  readonly skipped: readonly string[]
  readonly units: readonly number[]
  readonly isComplete: boolean
}

function scan(search: LineSearch, text: string, options: GrepOptions = {}): Scan {
  const collector = new GrepCollector(options)
  const units = [...scanLines(search, { path: '/f', text, collector })]
  const { matches, skippedPaths, countIsComplete } = collector.result()
  return { matches, skipped: skippedPaths, units, isComplete: countIsComplete }
}

/** Lines without their ends; a carriage return belongs to a line feed only. */
function linesOf(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const isOpen = lines.at(-1) !== ''
  if (!isOpen) lines.pop()
  return lines.map((line, index) =>
    isOpen && index === lines.length - 1 ? line : line.replace(/\r$/, ''),
  )
}

function model(text: string, isMatch: (line: string) => boolean, context: number) {
  const lines = linesOf(text)
  return lines.flatMap((line, index): GrepMatch[] => {
    if (!isMatch(line)) return []
    const found = { path: '/f', lineNumber: index + 1, line }
    if (context === 0) return [found]
    const before = lines.slice(Math.max(0, index - context), index)
    return [{ ...found, before, after: lines.slice(index + 1, index + 1 + context) }]
  })
}

const literalIn = (wanted: string) => (text: string, from: number, to: number) => {
  const at = text.slice(from, to + wanted.length - 1).indexOf(wanted)
  return at < 0 ? -1 : from + at
}

const texts = fc
  .tuple(
    fc.constantFrom('', '\uFEFF'),
    fc.array(fc.constantFrom('a', 'b', 'x', '\n', '\n', '\r\n', '\r', 'long line '), {
      maxLength: 25,
    }),
  )
  .map(([mark, parts]) => mark + parts.join(''))
const blocks = fc.integer({ min: 1, max: 12 })
const contexts = fc.integer({ min: 0, max: 3 })

const holds = (wanted: string) => (line: string) => line.includes(wanted)

function* holdsA(line: string): Generator<number, 'match' | 'no-match'> {
  yield line.length
  return line.includes('a') ? 'match' : 'no-match'
}

function* cannotTell(): Generator<number, 'unknown'> {
  yield 1
  return 'unknown'
}

test('finds the lines that hold a literal, in blocks of any length', () => {
  fc.assert(
    fc.property(texts, blocks, contexts, (text, blockCharacters, context) => {
      for (const wanted of ['a', 'ab', 'line']) {
        const nextLiteral = literalIn(wanted)
        const search = { blockCharacters, unitsPerCharacter: 1, nextLiteral }
        expect(scan(search, text, { context }).matches).toEqual(model(text, holds(wanted), context))
      }
    }),
    { numRuns: 500 },
  )
})

test('finds the lines that pass a test, with and without a literal or a prefilter', () => {
  fc.assert(
    fc.property(texts, blocks, contexts, (text, blockCharacters, context) => {
      const base = { blockCharacters, unitsPerCharacter: 1, testLine: holdsA }
      const expected = model(text, holds('a'), context)
      for (const search of [
        base,
        { ...base, nextLiteral: literalIn('a') },
        { ...base, mayMatchText: (part: string) => part.includes('a') },
      ]) {
        expect(scan(search, text, { context }).matches).toEqual(expected)
      }
    }),
    { numRuns: 500 },
  )
})

test('the first matches are found, and whether there are more', () => {
  fc.assert(
    fc.property(
      texts,
      blocks,
      fc.integer({ min: 0, max: 4 }),
      (text, blockCharacters, maxResults) => {
        const search = { blockCharacters, unitsPerCharacter: 1, nextLiteral: literalIn('a') }
        const all = model(text, holds('a'), 0)
        const { matches, isComplete } = scan(search, text, { maxResults })
        expect([matches, isComplete]).toEqual([all.slice(0, maxResults), all.length <= maxResults])
      },
    ),
  )
})

test('a prefilter is asked of whole lines that are together a block, and not of a long one', () => {
  const asked: string[] = []
  const mayMatchText = (text: string) => asked.push(text) < 0
  const search = { blockCharacters: 5, unitsPerCharacter: 1, mayMatchText }
  scan(search, 'a\nbb\nccc\ndddddddd\neeee\nffff')
  expect(asked).toEqual(['a\nbb\n', 'ccc\n', 'eeee\n', 'ffff'])
})

test('work is measured by characters, and once more for each line that is taken', () => {
  const search = { blockCharacters: 4, unitsPerCharacter: 0.5, nextLiteral: literalIn('x') }
  // Blocks; the pieces of the second one; its line, counted from the start of the text; the match.
  expect(scan(search, 'abc\ndefghijx\n').units).toEqual([2, 5, 2, 22, 4, 20])
  expect(scan(search, 'x\n', { context: 2 }).units).toEqual([1, 60])
  expect(scan({ ...search, blockCharacters: 100 }, 'yx\n').units).toEqual([2, 20])
})

test('line feeds are counted 65,536 characters at a time', () => {
  const text = `${'\n'.repeat(140_000)}x`
  const search = { blockCharacters: 1e6, unitsPerCharacter: 0, nextLiteral: literalIn('x') }
  const { matches, units } = scan(search, text)
  expect(matches).toEqual([{ path: '/f', lineNumber: 140_001, line: 'x' }])
  expect(units).toEqual([0, 65_536, 65_536, 140_000 - 131_072, 20])
})

test('a file with lines that cannot be tested whole is skipped once', () => {
  const { matches, skipped } = scan(
    { blockCharacters: 4, unitsPerCharacter: 1, testLine: cannotTell },
    'a\nb\n',
  )
  expect([matches, skipped]).toEqual([[], ['/f']])
})
