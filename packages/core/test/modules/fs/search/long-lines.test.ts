// Lines that are too long for one test: what is found in their pieces, and what cannot be told.
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import type { GrepOptions } from '../../../../src/modules/fs/contract.ts'
import { GrepCollector } from '../../../../src/modules/fs/search/grep-collector.ts'
import { compileSearch } from '../../../../src/modules/fs/search/search.ts'

async function grep(pattern: string, text: string, options: GrepOptions = {}) {
  const search = await compileSearch(pattern, options)
  const collector = new GrepCollector(options)
  await search.search('/f', text, collector)
  const { matches, skippedPaths, countIsComplete } = collector.result()
  return { found: matches.length, isSkipped: skippedPaths.length > 0, isComplete: countIsComplete }
}

const none = { found: 0, isSkipped: false, isComplete: true }
const unknown = { found: 0, isSkipped: true, isComplete: false }
const one = { found: 1, isSkipped: false, isComplete: true }

/** A class that is repeated: a program of so many instructions. */
const programOf = (size: number): string => {
  const pattern = `[xy]{${size - 2}}`
  expect(RE2JS.compile(pattern).programSize()).toBe(size)
  return pattern
}

test.each([
  [500, 2000, none],
  [500, 2001, none],
  [501, 1996, none],
  [501, 1997, unknown],
])(
  'with %i instructions, a line of %i characters that does not match: %o',
  async (size, length, expected) => {
    expect(await grep(programOf(size), 'z'.repeat(length))).toEqual(expected)
  },
)

test.each([
  ['[xy]z', none],
  ['[xy]+z', unknown],
  ['[xy]{3,}z', unknown],
  ['^[xy]', unknown],
  ['[xy]$', unknown],
  ['\\b[xy]', unknown],
])('whether a very long line holds %s: %o', async (pattern, expected) => {
  expect(await grep(pattern, `z${'-'.repeat(70_000)}`)).toEqual(expected)
})

test.each([0, 1, 32_766, 32_767, 32_768, 65_534, 65_535, 65_536, 69_998])(
  'a match at %i of a very long line is found',
  async (at) => {
    const line = `${'-'.repeat(at)}xz${'-'.repeat(70_000 - at - 2)}`
    expect(await grep('[xy]z', line)).toEqual(one)
    expect(await grep('[xy]z', `first\n${line}\nxz`)).toMatchObject({ found: 2 })
    expect((await grep('^[xy]z', line)).found).toBe(at === 0 ? 1 : 0)
    expect((await grep('[xy]z$', line)).found).toBe(at === 69_998 ? 1 : 0)
  },
)

test.each([
  ['\\bxz\\b', 'xz', 1],
  ['\\bxz\\b', '-xz-', 1],
  ['\\bxz\\b', 'axz', 0],
  ['\\bxz\\b', 'xza', 0],
])('what stands around a match in the middle counts: %s for %s', async (pattern, word, found) => {
  const line = `${'-'.repeat(32_768)}${word}${'-'.repeat(40_000)}`
  expect((await grep(pattern, line)).found).toBe(found)
})

test.each([
  ['^[xy]z|uv', 'uv', 1],
  ['^[xy]z|uv', 'xz', 0],
  ['uv|[xy]z$', 'uv', 1],
  ['uv|[xy]z$', 'xz', 0],
])('in the middle of a very long line, %s finds %s: %i', async (pattern, text, found) => {
  const line = `${'-'.repeat(40_000)}${text}${'-'.repeat(40_000)}`
  expect((await grep(pattern, line)).found).toBe(found)
})

test('a pattern has at most 10,000 characters', async () => {
  await expect(compileSearch('x'.repeat(10_000), {})).resolves.toBeDefined()
  await expect(compileSearch('x'.repeat(10_001), {})).rejects.toMatchObject({
    code: 'invalid-pattern',
  })
})
