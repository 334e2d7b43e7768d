import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LinePager, type Page } from '../../../../src/modules/fs/text/line-pager.ts'

interface Wanted {
  readonly offset?: number
  readonly column?: number
  readonly limit?: number
  readonly room?: number
}

function page(pieces: readonly string[], wanted: Wanted = {}): Page {
  const { offset = 1, column = 1, limit = 1e9, room = 1e9 } = wanted
  const pager = new LinePager({ offset, column, limit, maxCharacters: room })
  for (const piece of pieces) pager.push(piece)
  return pager.end()
}

describe('LinePager', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n', 1],
    ['\n\n', 2],
  ])('counts the lines of %j', (text, total) => {
    const result = page([text])
    expect(result.totalLines).toBe(total)
    expect(result.content).toBe(text)
    expect(result.next).toBeUndefined()
    expect(result.lastLine).toBe(total)
  })

  it.each([
    ['two lines', 'abc\nd\n', 22],
    ['the last one without an end', 'abc\nd', 21],
  ])('has room for exactly %s', (_, text, room) => {
    expect(page([text], { room })).toMatchObject({ content: text })
    expect(page([text], { room: room - 1 }).content.length).toBeLessThan(text.length)
    // Character by character: no line is whole when it comes.
    expect(page(Array.from(text), { room })).toMatchObject({ content: text })
  })

  it('says where to go on', () => {
    expect(page(['a\nb\nc\n'], { limit: 2 })).toEqual({
      content: 'a\nb\n',
      firstLine: 1,
      firstColumn: 1,
      lastLine: 2,
      totalLines: 3,
      next: { offset: 3 },
    })
    expect(page(['a\nb'], { offset: 9 })).toMatchObject({
      content: '',
      firstLine: 0,
      totalLines: 2,
    })
    expect(page(['x'.repeat(50)], { room: 20 })).toMatchObject({ next: { offset: 1, column: 21 } })
  })

  it('shows the next line whole where the first is shorter than what was seen of it', () => {
    for (const pieces of [['ab\ncdefgh\n'], ['a', 'b\ncd', 'efgh\n']]) {
      expect(page(pieces, { column: 6 }).content).toBe('cdefgh\n')
    }
  })

  it('never splits a pair of surrogates', () => {
    const result = page(['\u{1F600}'.repeat(9)], { room: 5 })
    expect(result.content.isWellFormed()).toBe(true)
  })

  const character = fc.constantFrom(
    'a',
    'b',
    '\n',
    '\n',
    '\r\n',
    '\u{10000}',
    '\u{10FFFF}',
    '\uE000',
    'long '.repeat(20),
  )
  const texts = fc.array(fc.array(character, { maxLength: 8 }).map((list) => list.join('')))

  it('gives pages that are the text, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 12, max: 80 }),
        (pieces, limit, room) => {
          const text = pieces.join('')
          const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0)
          let joined = ''
          let next: Page['next'] = { offset: 1 }
          for (let i = 0; next !== undefined && i < 5000; i += 1) {
            const result: Page = page(pieces, { ...next, limit, room })
            expect(result).toEqual(page([text], { ...next, limit, room }))
            expect(result.totalLines).toBe(lines)
            expect(result.content.length).toBeLessThanOrEqual(room)
            expect(result.content.isWellFormed()).toBe(true)
            const isEmpty = result.firstLine === 0
            expect(isEmpty || result.firstLine === next.offset).toBe(true)
            expect(result.lastLine - result.firstLine).toBeLessThan(limit)
            joined += result.content
            next = result.next
          }
          expect(joined).toBe(text)
        },
      ),
      { numRuns: 500 },
    )
  })
})
