import { AgentDefinitionError, costByPrices, defineAgent } from '@helix-agents/core'
import {
  addRunUsage,
  NO_USAGE,
  reachedLimit,
  type RunUsage,
  runUsageOf,
} from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'

const spent = (part: Partial<RunUsage>): RunUsage => ({ ...NO_USAGE, ...part })

describe('reachedLimit', () => {
  test.each([
    [{ maxTotalTokens: 10 }, spent({ totalTokens: 10 }), 'max-tokens'],
    [{ maxTotalTokens: 10 }, spent({ totalTokens: 9 }), undefined],
    [{ maxInputTokens: 10 }, spent({ inputTokens: 11 }), 'max-tokens'],
    [{ maxOutputTokens: 10 }, spent({ outputTokens: 10 }), 'max-tokens'],
    [{ maxCost: 0.5 }, spent({ cost: 0.5 }), 'max-cost'],
    [{ maxDurationMs: 10 }, spent({ durationMs: 10, cost: 1 }), 'max-duration'],
    [{}, spent({ totalTokens: 1e9, cost: 1e9, durationMs: 1e9 }), undefined],
  ] as const)('%o after %o is %s', (budget, usage, limit) => {
    expect(reachedLimit(budget, usage)).toBe(limit)
  })
})

describe('usage', () => {
  test('is counted by call, with the sum of both sides when the model gives none', () => {
    const one = runUsageOf({ inputTokens: 3, outputTokens: 4 }, 0.5)
    const two = runUsageOf({ totalTokens: 5 }, 0)
    expect(addRunUsage(one, two)).toEqual({
      inputTokens: 3,
      outputTokens: 4,
      totalTokens: 12,
      cost: 0.5,
      modelCalls: 2,
      durationMs: 0,
    })
  })
})

describe('costByPrices', () => {
  const price = { input: 2, output: 10, cachedInput: 0.5, cacheWrite: 3 }
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cachedInputTokens: 600_000,
    cacheWriteTokens: 200_000,
  }

  test('knows a model by its id or its name', () => {
    const costOf = costByPrices({ big: price })
    expect(costOf(usage, { model: { modelId: 'big' } })).toBeCloseTo(0.4 + 0.3 + 0.6 + 1)
    expect(costOf(usage, { model: 'big' })).toBeCloseTo(2.3)
  })

  test('takes cached tokens for others without a price of their own', () => {
    const costOf = costByPrices({ '*': { input: 2, output: 10 } })
    expect(costOf(usage, { model: 'any' })).toBeCloseTo(3)
  })

  test('says that it knows no price', () => {
    expect(costByPrices({ big: price })(usage, { model: 'toString' })).toBeNaN()
  })
})

describe('the budget of an agent', () => {
  test.each([
    [{ maxTokens: 1 }, 'unknown field budget.maxTokens'],
    [{ maxTotalTokens: 0 }, 'budget.maxTotalTokens must be a positive number'],
    [{ maxDurationMs: Number.NaN }, 'budget.maxDurationMs must be a positive number'],
    [{ maxCost: 1 }, 'budget.maxCost needs costOf'],
    [
      { maxCost: 1, costOf: costByPrices({ big: { input: 1, output: 1 } }) },
      'budget.costOf knows no price of this model',
    ],
  ])('%o is refused', (budget, problem) => {
    const caught = catchOf(() => define(budget))
    expect(AgentDefinitionError.isInstance(caught) && caught.problems).toEqual([problem])
  })

  test('with prices of its model is taken', () => {
    const costOf = costByPrices({ '*': { input: 1, output: 1 } })
    expect(define({ maxCost: 1, costOf, maxTotalTokens: 5 })).toMatchObject({ name: 'a' })
  })
})

function define(budget: object): unknown {
  return defineAgent({ name: 'a', llmConfig: { model: 'small' }, budget })
}

function catchOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
