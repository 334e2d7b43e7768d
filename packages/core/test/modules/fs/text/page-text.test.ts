import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Page } from '../../../../src/modules/fs/text/line-pager.ts'
import { numberLines } from '../../../../src/modules/fs/text/page-text.ts'

const pageOf = (content: string, part: Partial<Page> = {}): Page => {
  const count = content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
  const firstLine = part.firstLine ?? 1
  return {
    content,
    firstLine,
    firstColumn: 1,
    lastLine: firstLine + count - 1,
    totalLines: 9999,
    ...part,
  }
}

/** Pieces of at most 2,000 units that split no character. */
function pieces(line: string): string[] {
  const found: string[] = []
  let piece = ''
  for (const character of line) {
    if (piece.length + character.length > 2000) {
      found.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...found, piece]
}

test('each line has its number, as wide as the last one; a long one comes in pieces', () => {
  const line = fc
    .tuple(
      fc.constantFrom('', 'x', '\u{10000}', '\u{10FFFF}', 'é'),
      fc.constantFrom(0, 1, 1999, 2000, 2001, 4000, 4001),
    )
    .map(
      ([character, count]) =>
        `${'y'.repeat(count % 2)}${character.repeat(Math.ceil(count / (character.length || 1)))}`,
    )
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom(1, 8, 1998, 2001),
      fc.boolean(),
      (lines, end, firstLine, isOpen) => {
        fc.pre(!isOpen || lines.at(-1) !== '')
        const content = lines.join(end) + (isOpen ? '' : end)
        const width = String(firstLine + lines.length - 1).length
        const expected = lines.flatMap((text, index) =>
          pieces(text).map((piece, n) =>
            n === 0 ? `${String(firstLine + index).padStart(width)}→${piece}\n` : `…→${piece}\n`,
          ),
        )
        expect(numberLines(pageOf(content, { firstLine }))).toBe(expected.join(''))
      },
    ),
    { numRuns: 200 },
  )
})

test('the rest of a line has a mark for its number', () => {
  expect(numberLines(pageOf('rest\nnext\n', { firstLine: 9, firstColumn: 5 }))).toBe(
    ' …→rest\n10→next\n',
  )
  expect(numberLines(pageOf('rest\n', { firstLine: 1, firstColumn: 2 }))).toBe('…→rest\n')
})

test('a byte order mark is hidden in front of the first line only', () => {
  expect(numberLines(pageOf('\uFEFFa\n\uFEFFb\n'))).toBe('1→a\n2→\uFEFFb\n')
  expect(numberLines(pageOf('\uFEFFa\n', { firstLine: 2 }))).toBe('2→\uFEFFa\n')
})

test('a carriage return alone is text, and so is one at the end of the page', () => {
  expect(numberLines(pageOf('a\rb\n\r\nc\r'))).toBe('1→a\rb\n2→\n3→c\r\n')
})
