import { expect, test } from 'vitest'
import { addUsage, toTokenUsage } from '../../src/answer/token-usage.ts'

const none = undefined
const usageOf = (
  [total, cacheRead, cacheWrite]: readonly (number | undefined)[],
  [output, reasoning]: readonly (number | undefined)[],
) =>
  toTokenUsage({
    inputTokens: { total, noCache: none, cacheRead, cacheWrite },
    outputTokens: { total: output, text: none, reasoning },
  })

test('the tokens of a call, as far as its provider counts them', () => {
  expect(usageOf([1, 2, 3], [4, 5])).toStrictEqual({
    inputTokens: 1,
    outputTokens: 4,
    totalTokens: 5,
    cachedInputTokens: 2,
    cacheWriteTokens: 3,
    reasoningTokens: 5,
  })
  expect(usageOf([1], [])).toStrictEqual({ inputTokens: 1, totalTokens: 1 })
  expect(usageOf([], [4])).toStrictEqual({ outputTokens: 4, totalTokens: 4 })
  expect(usageOf([0], [0])).toStrictEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })
  expect(usageOf([none, 2, 3], [none, 5])).toBeUndefined()
})

test('the tokens of two attempts are added, field by field', () => {
  const one = { inputTokens: 1, totalTokens: 1, cachedInputTokens: 7 }
  const other = {
    inputTokens: 2,
    outputTokens: 3,
    totalTokens: 5,
    cacheWriteTokens: 11,
    reasoningTokens: 13,
  }
  expect(addUsage(one, other)).toStrictEqual({
    inputTokens: 3,
    outputTokens: 3,
    totalTokens: 6,
    cachedInputTokens: 7,
    cacheWriteTokens: 11,
    reasoningTokens: 13,
  })
  expect(addUsage(one, undefined)).toBe(one)
  expect(addUsage(undefined, other)).toBe(other)
  expect(addUsage(undefined, undefined)).toBeUndefined()
})
