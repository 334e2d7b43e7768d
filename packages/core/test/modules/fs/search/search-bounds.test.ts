import * as fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import type { GrepOptions } from '../../../../src/modules/fs/contract.ts'
import { GrepCollector } from '../../../../src/modules/fs/search/grep-collector.ts'
import { MAX_PROGRAM_SIZE, patternCost } from '../../../../src/modules/fs/search/pattern-cost.ts'
import { compileSearch } from '../../../../src/modules/fs/search/search.ts'

async function grep(pattern: string, text: string, options: GrepOptions = {}) {
  const search = await compileSearch(pattern, options)
  const collector = new GrepCollector(options)
  await search.search('/f', text, collector)
  return collector.result()
}

const lines = async (pattern: string, text: string): Promise<number[]> =>
  (await grep(pattern, text)).matches.map((match) => match.lineNumber)

describe('a program that is too large', () => {
  test.each([
    '[^0]{0,1000}'.repeat(40),
    '(x{1,100}){1,20}',
    '((x{2}){2}){600}',
    '\\p{L}'.repeat(60),
    '[\\p{L}\\p{N}]'.repeat(60),
    'x{1000}y{1000}',
  ])('%s is refused before it is compiled', async (pattern) => {
    const error = await grep(pattern, 'x').catch((reason: unknown) => reason)
    expect(FileSystemError.isInstance(error) && error.code).toBe('invalid-pattern')
    expect(String(error)).toMatch(/instructions/)
  })

  test.each(['[a-z0-9]{1,64}@[a-z0-9.]{1,253}\\.[a-z]{2,10}', 'foo.{0,500}bar', '\\p{L}{1,5}'])(
    '%s is not',
    async (pattern) => {
      expect((await grep(pattern, 'none')).countIsComplete).toBe(true)
    },
  )

  test('the estimate is never far below the program, whatever the pattern', () => {
    const atom = fc.constantFrom('a', '.', '[a-z]', '[^0]', '\\d', '\\.', '(?:ab|c)', '(x|)', '^')
    const quantifier = fc.constantFrom('', '', '*', '+?', '{3}', '{2,}', '{0,20}', '{1,9}')
    const sequence = fc
      .array(
        fc.tuple(atom, quantifier).map((pair) => pair.join('')),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join(''))
    const pattern = fc.tuple(sequence, quantifier, sequence).map(([a, q, b]) => `(${a})${q}|${b}`)
    fc.assert(
      fc.property(pattern, (text) => {
        const { size } = patternCost(text)
        if (size > MAX_PROGRAM_SIZE) return
        expect(RE2JS.compile(text).programSize()).toBeLessThanOrEqual(size * 2 + 4)
      }),
    )
  })
})

describe('a line too long for one test', () => {
  const filler = 'x'.repeat(300_000)

  test.each([
    ['[a-c]{3}', `${filler}abc${filler}`, [1]],
    ['a+b*c', `${filler}abc\n${filler}`, [1]],
    ['[a-c]{4}', `${filler}abc${filler}`, []],
    ['^[ab]bc', `${filler}abc`, []],
    ['^[ab]bc', `abc${filler}`, [1]],
    ['[ab]bc$', `${filler}\n${filler}abc`, [2]],
    ['[ab]bc$', `${filler}abc${filler}`, []],
    ['\\b[ab]bc\\b', `${filler} abc ${filler}`, [1]],
    ['\\b[ab]bc\\b', `${filler}abc ${filler}`, []],
    ['^x', `\n${filler}`, [2]],
  ])('%s', async (pattern, text, expected) => {
    expect(await lines(pattern, text)).toEqual(expected)
  })

  test('no edge of a piece is taken for the edge of the line', async () => {
    expect(await lines('^x', `y${filler}`)).toEqual([])
    expect(await lines('x$', `${filler}y`)).toEqual([])
    expect(await lines('\\bx', `y${filler}`)).toEqual([])
  })

  test('is named as skipped where a match could be longer than a piece', async () => {
    expect((await grep('[a-c]{3}', filler)).countIsComplete).toBe(true)
    const result = await grep('a[x]*b', `a${filler}b`)
    expect([result.skippedPaths, result.countIsComplete]).toEqual([['/f'], false])
  })

  test('a match is found wherever it stands', async () => {
    const at = fc.integer({ min: 0, max: 200_000 })
    await fc.assert(
      fc.asyncProperty(at, async (index) => {
        const text = `${'x'.repeat(index)}needle${'x'.repeat(200_000 - index)}`
        expect(await lines('ne{2}dl[e]', text)).toEqual([1])
        expect(await lines('n[e]+dle', text)).toEqual([1])
      }),
      { numRuns: 30 },
    )
  })
})

describe('what a search keeps', () => {
  test('however many lines match, about 8,000,000 characters of them', async () => {
    const text = `${'x'.repeat(936)}\n`.repeat(10_000)
    const { matches, countIsComplete } = await grep('x', text, { maxResults: Infinity })
    expect([matches.length, countIsComplete]).toEqual([8000, false])
  })

  test('one match is always kept', async () => {
    const { matches } = await grep('x', 'x'.repeat(9_000_000))
    expect(matches.length).toBe(1)
  })
})

test('an abort ends a search within one file', async () => {
  const controller = new AbortController()
  const pending = grep('([^0]{0,3}x+){2}[yz]', 'x'.repeat(1_000_000), { signal: controller.signal })
  controller.abort(new Error('stop'))
  await expect(pending).rejects.toThrow('stop')
})

test.each([0, 65_000, 130_000])(
  'a long plain pattern is found behind %d characters',
  async (at) => {
    const pattern = 'x'.repeat(1000)
    const search = await compileSearch(pattern, {})
    const collector = new GrepCollector({})
    await search.search('/a', `${'-'.repeat(at)}${pattern}\n`, collector)
    expect(collector.result()).toMatchObject({ matches: [{ lineNumber: 1 }], skippedPaths: [] })
  },
)
