import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeDifference } from '../../../../src/modules/fs/edit/line-difference.ts'
import {
  describeNearest,
  findNearestPlace,
  showBlanks,
  showLines,
} from '../../../../src/modules/fs/edit/nearest-lines.ts'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'

const nearest = (lines: readonly string[], wanted: readonly string[]) =>
  findNearestPlace(lines, wanted, createWorkTurn())

const pairsOf = (text: string) => Array.from(text.slice(1), (c, i) => text[i]! + c)

const likeness = (one: string, other: string) => {
  const [left, right] = [pairsOf(one), pairsOf(other)]
  const shared = new Set(left.filter((pair) => right.includes(pair))).size
  return shared === 0 ? 0 : (2 * shared) / (left.length + right.length)
}

const alike = (count: number) => [...Array.from({ length: count }, () => ' x'), 'y']

const block = (last: string, at: number) =>
  Array.from({ length: 51 }, (_, i) => (i === at ? last : i === 0 ? 'start' : 'same'))

const letters = (length: number) =>
  Array.from({ length }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')

const nine = (letter: string) => Array.from({ length: 9 }, (_, i) => `${letter}${i}\n`).join('')

const differ = (lines: readonly string[], wanted: readonly string[], isPart = true) =>
  describeDifference({ lines, start: 0, isCut: false }, { lines: wanted, name: 'it', isPart })

describe('findNearestPlace', () => {
  test.each<readonly [string, readonly string[], readonly string[], number | undefined]>([
    ['blanks aside', ['a', ' b c', 'd'], ['bc'], 1],
    ['the most lines around it', ['x', 'a', 'x', 'b', 'x', 'c'], ['x', ' b'], 2],
    ['the first of equals', ['x', 'a', 'x', 'a'], [' x', ' a'], 0],
    ['a line that holds it', ['abc', 'xabcdx'], ['abcd'], 1],
    ['a short text is not looked for within lines', ['wwwxabcxyz'], ['abc'], undefined],
    ['the letters that it shares', ['zzzz', 'hallo welt', 'hello world'], ['helo world'], 2],
    ['the first of those that share as many', ['abcx', 'abcy'], ['abcz'], 0],
    ['half of the letters is enough', ['abxx'], ['abyy'], undefined],
    ['two of three pairs', ['abcx'], ['abcy'], 0],
    ['case aside', ['ABCDEF'], ['abcdxf'], 0],
    ['nothing in common', ['abc'], ['xyz'], undefined],
    ['no text is wanted', ['abc', ''], ['', ' '], undefined],
    ['no lines', [], ['a'], undefined],
    ['the block begins above its first line with text', ['a', 'b', 'c'], ['', ' b'], 0],
    ['the block would begin above the file', ['b'], ['', '', ' b'], 0],
    ['each pair counts once', ['aaaaaaaa'], ['aabbccdd'], undefined],
  ])('%s', async (_what, lines, wanted, place) => {
    expect(await nearest(lines, wanted)).toBe(place)
  })

  test('likeness is twice the shared pairs by all pairs, and one half is enough', async () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 6 }), words, async (lines, wanted) => {
        fc.pre(wanted !== '' && !lines.some((line) => line.includes(wanted)))
        const best = Math.max(0, ...lines.map((line) => likeness(line, wanted)))
        const expected = lines.findIndex((line) => likeness(line, wanted) === best)
        expect(await nearest(lines, [wanted])).toBe(best < 0.5 ? undefined : expected)
      }),
      { numRuns: 500 },
    )
  })

  test('of many lines that are the same, the first 500 are compared', async () => {
    const wanted = ['x', ' y']
    expect(await nearest(alike(500), wanted)).toBe(499)
    expect(await nearest(alike(501), wanted)).toBe(0)
  })

  test('of a block, the first 50 lines are compared', async () => {
    const found: unknown[] = []
    for (const at of [49, 50]) {
      const lines = [...block('other', at), ...block('wanted', at)]
      found.push(await nearest(lines, block(' wanted', at)))
    }
    expect(found).toEqual([51, 0])
  })

  test('of a line, its first 2,000 characters are compared, of its letters 200', async () => {
    const long = 'ab'.repeat(1000)
    expect(await nearest([`${long}x`], [` ${long.slice(0, -1)}`])).toBe(0)
    expect(await nearest([`${letters(200)}${'x'.repeat(900)}`], [`${letters(199)}y`])).toBe(0)
  })
})

test('a hint shows eight lines of each side, numbered', async () => {
  const shown = (await describeNearest(`top\n${nine('a')}`, nine(' a'), createWorkTurn())).split(
    '\n',
  )
  expect(shown).toEqual([
    'oldText must match the file exactly. The nearest lines (· is a blank, → a tab):',
    ...Array.from({ length: 8 }, (_, i) => `  line ${i + 2}: a${i}`),
    'What was looked for:',
    ...Array.from({ length: 8 }, (_, i) => `  ·a${i}`),
    'Only blanks differ. First difference: line 2, column 1: the file has "a0", oldText has a blank (U+0020).',
  ])
  expect(await describeNearest('abc', 'xyz', createWorkTurn())).toBe(
    'No line of the file is like it: read the file again.',
  )
})

test('a file that goes on is not said to end', async () => {
  const short = await describeNearest('a\nx\n', 'a\nx\ny\n', createWorkTurn())
  expect(short).toContain('The file ends before line 3')
  const cut = await describeNearest(`${'a\n'.repeat(19_999)}xyz\n!`, 'xyz\nmore', createWorkTurn())
  expect(cut).not.toContain('The file ends')
  const whole = await describeNearest(`${'a\n'.repeat(19_998)}xyz\n`, 'xyz\nmore', createWorkTurn())
  expect(whole).toContain('The file ends before line 20000; oldText goes on with "more".')
  const far = await describeNearest(`abc\n${'-'.repeat(2_000_000)}`, ' abc\n', createWorkTurn())
  expect(far).toContain('line 1: abc')
  const atLimit = `${'-'.repeat(1_999_996)}\nabc`
  const over = await describeNearest(`${atLimit}!`, ' abc', createWorkTurn())
  expect(over).toContain('line 2: abc\n')
})

test('blanks are made visible, and a long line is cut', () => {
  expect(showBlanks(' \t\r\u00A0\uFEFFx\r\n')).toBe('·→␍⍽‹BOM›x')
  expect(showBlanks('x'.repeat(200))).toBe('x'.repeat(200))
  expect(showBlanks('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`)
  expect(showLines(['a\n', ' b'], 4)).toEqual(['  line 5: a', '  line 6: ·b'])
})

describe('describeDifference', () => {
  test.each<readonly [readonly string[], readonly string[], string]>([
    [['abc'], ['abd'], 'First difference: line 1, column 3: the file has "abc", it has "abd".'],
    [['abc'], ['abc'], ''],
    [['xabcx'], ['abc'], ''],
    [['xa\n', 'b\n'], ['a\n', 'b'], ''],
    [
      ['one two'],
      ['one\ttwo'],
      'Only blanks differ. First difference: line 1, column 4: the file has a blank (U+0020), it has a tab (U+0009).',
    ],
    [
      ['long word here'],
      ['word hers'],
      'First difference: line 1, column 1: the file has "long word here", it has "word hers".',
    ],
    [
      ['long word\n'],
      ['word \n'],
      'Only blanks or line ends at the ends of lines differ. First difference: line 1, column 10: the file has an LF line end, it has a blank (U+0020).',
    ],
    [
      ['xx  word\n'],
      [' word \n'],
      'Only blanks or line ends at the ends of lines differ. First difference: line 1, column 9: the file has an LF line end, it has a blank (U+0020).',
    ],
    [
      ['ab'],
      ['abc'],
      'First difference: line 1, column 3: the file has its end, without a line end, it has "abc".',
    ],
    [
      ['a\u0001'],
      ['a\u007F'],
      'First difference: line 1, column 2: the file has "a\\u0001" (U+0001), it has "a\u007F" (U+007F).',
    ],
    [
      ['\u{1F600}'],
      ['\u200B'],
      'First difference: line 1, column 1: the file has "\u{1F600}" (U+1F600), it has a zero-width space (U+200B).',
    ],
  ])('of %j and %j', (lines, wanted, text) => {
    expect(differ(lines, wanted)).toBe(text)
  })

  test('whole lines are compared to their ends', () => {
    expect(differ(['abcx'], ['abc'], false)).toBe(
      'First difference: line 1, column 4: the file has "abcx", it has the end of the line.',
    )
  })

  test('the word around a difference is shown, 30 characters of it', () => {
    const long = 'x'.repeat(40)
    expect(differ([`${long}a${long}`], [`${long}b${long}`])).toContain(
      `the file has "${'x'.repeat(30)}a${'x'.repeat(29)}", it has "${'x'.repeat(30)}b${'x'.repeat(29)}"`,
    )
  })

  test('numbers count the lines above, and a start within the file', () => {
    const file = { lines: ['a', 'b', 'c'], start: 1, isCut: false }
    expect(describeDifference(file, { lines: ['b', 'd'], name: 'it', isPart: false }, 10)).toBe(
      'First difference: line 13, column 1: the file has "c", it has "d".',
    )
    expect(
      describeDifference(file, { lines: ['b', 'c', 'd'], name: 'it', isPart: false }, 10),
    ).toBe('The file ends before line 14; it goes on with "d".')
    const cut = { ...file, isCut: true }
    expect(describeDifference(cut, { lines: ['b', 'c', 'd'], name: 'it', isPart: false })).toBe('')
  })

  test('a line is compared up to 2,000 characters', () => {
    const long = 'x'.repeat(2000)
    expect(differ([`${long}a`], [`${long}b`], false)).toBe('')
    expect(differ([`${long.slice(1)}a`], [`${long.slice(1)}b`], false)).toContain('column 2000')
  })
})
