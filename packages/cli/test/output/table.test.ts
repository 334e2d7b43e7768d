import { stripVTControlCharacters, styleText } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitText, widthOf } from '../../src/output/fit-text.ts'
import { renderFields, renderTable } from '../../src/output/table.ts'
import { DANGEROUS } from '../test-host.ts'

const plain = { width: Infinity, paint: (text: string) => text }
const columns = [
  { title: 'name', minWidth: 4 },
  { title: 'count', align: 'right' },
  { title: 'text', minWidth: 6 },
] as const

function paint(text: string, tone: unknown): string {
  return tone === undefined ? text : styleText('red', text, { validateStream: false })
}

describe('renderTable', () => {
  it('aligns columns by what they take on the screen', () => {
    const rows = [
      ['日本', '1', 'one'],
      ['a', '1000', 'many\nlines'],
    ]
    expect(renderTable(columns, rows, plain)).toEqual([
      'NAME  COUNT  TEXT',
      '日本      1  one',
      String.raw`a      1000  many\nlines`,
    ])
  })
  it('cuts the widest column first, in a narrow terminal', () => {
    const rows = [['a name', '1', 'a text that is longer than the terminal']]
    expect(renderTable(columns, rows, { ...plain, width: 30 })).toEqual([
      'NAME    COUNT  TEXT',
      'a name      1  a text that is…',
    ])
  })
  it('draws a block for each row when it cannot be cut enough', () => {
    const rows = [
      ['a name', '1', 'a text'],
      ['b', '2', 'a longer text'],
    ]
    expect(renderTable(columns, rows, { ...plain, width: 18 })).toEqual([
      'name   a name',
      'count  1',
      'text   a text',
      '',
      'name   b',
      'count  2',
      'text   a longer t…',
    ])
  })
  it('takes a row that is short for one whose last cells are empty', () => {
    const rows = [['a name'], ['b', '2', 'a longer text']]
    expect(renderTable(columns, rows, plain).slice(1)).toEqual([
      'a name',
      'b           2  a longer text',
    ])
    expect(renderTable(columns, rows, { ...plain, width: 18 }).slice(0, 3)).toEqual([
      'name   a name',
      'count',
      'text',
    ])
  })
  it('is drawn up to the edge of the terminal, and not beyond', () => {
    const rows = [['a name', '1', 'a text']]
    const drawn = (width: number): readonly string[] =>
      renderTable(columns, rows, { ...plain, width })
    expect(drawn(21)).toEqual(['NAME    COUNT  TEXT', 'a name      1  a text'])
    expect(drawn(20)).toEqual(['NAME   COUNT  TEXT', 'a na…      1  a text'])
    expect(drawn(19)).toEqual(['NAME  COUNT  TEXT', 'a n…      1  a text'])
    expect(drawn(18)).toHaveLength(3)
  })
  it('leaves out optional columns before that, the last one first', () => {
    const some = columns.map((one) => ({ ...one, isOptional: one.title !== 'text' }))
    const rows = [['a name', '1', 'a text']]
    const narrow = renderTable(some, rows, { ...plain, width: 16 })
    expect(narrow).toEqual(['NAME    TEXT', 'a name  a text'])
    expect(renderTable(some, rows, { ...plain, width: 8 })).toEqual(['TEXT', 'a text'])
  })
  it('never paints what was stored', () => {
    const rows = [[{ text: '\x1b[1mname', tone: 'bad' } as const, '1', '']]
    const [, row = ''] = renderTable(columns, rows, { ...plain, paint })
    expect(stripVTControlCharacters(row)).toBe(String.raw`\x1b[1mname      1`)
  })
  it('never exceeds the terminal, whatever it is given', () => {
    const text = fc.string({ unit: 'binary' })
    const rows = fc.array(fc.tuple(text, fc.nat().map(String), text), { maxLength: 5 })
    fc.assert(
      fc.property(rows, fc.integer({ min: 20, max: 120 }), (some, width) => {
        for (const line of renderTable(columns, some, { ...plain, width })) {
          expect(widthOf(line)).toBeLessThanOrEqual(width)
          expect(line).not.toMatch(DANGEROUS)
        }
      }),
    )
  })
})

it('renderFields aligns values', () => {
  const fields = [
    ['a', 'x'],
    ['longer', { text: 'y\x07', tone: 'bad' }],
  ] as const
  expect(renderFields(fields, plain)).toEqual(['a       x', String.raw`longer  y\x07`])
})

describe('fitText', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['abc', 0, ''],
  ])('cuts %j to %i columns', (text, width, fitted) => {
    expect(fitText(text, width)).toBe(fitted)
  })
})
