import { describe, expect, test } from 'vitest'
import { MAX_PROGRAM_SIZE, patternCost } from '../../../../src/modules/fs/search/pattern-cost.ts'

/** The size without the two instructions of every program. */
const sizeOf = (pattern: string) => patternCost(pattern).size - 2

describe('the size of a program, rather too large than too small', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['a.c', 3],
    ['\\d\\.', 2],
    ['\\pL', 64],
    ['\\PL', 64],
    ['\\p{Greek}x', 65],
    ['\\x{1F600}x', 2],
    ['\\', 1],
    ['\\Qabc\\Ed', 6],
    ['\\Qabc', 5],
    ['\\Qabc\\E{3}', 9],
    ['(ab)', 4],
    ['((a)b)', 6],
    ['(?:ab)', 4],
    ['(?P<name>ab)', 4],
    ['(?<name>ab)', 4],
    ['(?i)ab', 2],
    ['(?i:ab)', 4],
    ['a)b', 2],
    ['(ab', 2],
    ['a*', 3],
    ['a+', 3],
    ['a?', 3],
    ['a{3}', 5],
    ['a{2,}', 4],
    ['a{2,4}', 6],
    ['a{4,2}', 4],
    ['a{x', 3],
    ['{', 1],
    ['(ab){3}', 17],
    ['(ab){0}', 5],
    ['(?i)*', 1],
    ['a{2}{3}', 17],
    ['[abc]d', 2],
    ['[]a]b', 2],
    ['[^]a]b', 2],
    ['[[:alpha:]]b', 2],
    ['[\\]]b', 2],
    ['[\\pL\\P{Lu}]', 129],
    ['[é\\x{41}]', 33],
    ['[ab', 1],
  ])('of %j is %i', (pattern, size) => {
    expect(sizeOf(pattern)).toBe(size)
  })

  test('is bounded', () => {
    expect(MAX_PROGRAM_SIZE).toBe(2000)
  })
})

test.each([
  ['abc', false],
  ['a*', true],
  ['a+', true],
  ['a?', false],
  ['a{2}', false],
  ['a{2,}', true],
  ['a{2,4}', false],
])('whether a match of %j may have any length: %j', (pattern, isUnbounded) => {
  expect(patternCost(pattern).isUnbounded).toBe(isUnbounded)
})

test.each([
  ['abc', false],
  ['^a', true],
  ['a$', true],
  ['\\ba', true],
  ['\\Ba', true],
  ['\\Aa', true],
  ['a\\z', true],
  ['\\^a', false],
  ['[^a]', false],
  ['\\Q^\\E', false],
])('whether %j asks what stands around a match: %j', (pattern, hasEdges) => {
  expect(patternCost(pattern).hasEdges).toBe(hasEdges)
})
