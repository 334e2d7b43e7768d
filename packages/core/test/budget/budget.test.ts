import { AgentDefinitionError, type Budget, costByPrices, defineAgent } from '@helix-agents/core'
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

  test('takes the sum that the model gives before that of both sides', () => {
    expect(runUsageOf({ inputTokens: 3, outputTokens: 4, totalTokens: 9 }).totalTokens).toBe(9)
  })

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('counts %d as nothing', (odd) => {
    const usage = { inputTokens: odd, outputTokens: odd, totalTokens: odd }
    expect(runUsageOf(usage, odd)).toEqual({ ...NO_USAGE, cost: 0, modelCalls: 1 })
  })

  test('has a cost as soon as one call has one, and adds time', () => {
    const free = spent({ durationMs: 2 })
    const paid = spent({ durationMs: 3, cost: 0 })
    expect(addRunUsage(free, free)).not.toHaveProperty('cost')
    expect(addRunUsage(free, paid)).toEqual(spent({ durationMs: 5, cost: 0 }))
    expect(addRunUsage(paid, free)).toEqual(spent({ durationMs: 5, cost: 0 }))
    expect(runUsageOf({})).not.toHaveProperty('cost')
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

  test('counts no input twice, and none as negative', () => {
    const costOf = costByPrices({ big: price })
    const odd = { inputTokens: 10, cachedInputTokens: 2_000_000 }
    expect(costOf(odd, { model: 'big' })).toBeCloseTo(1)
    expect(costOf({}, { model: 'big' })).toBe(0)
  })

  test.each([null, 5, {}, { modelId: 5 }])('takes the model %o for any other', (model) => {
    const costOf = costByPrices({ '': { input: 1, output: 1 }, '*': { input: 9, output: 9 } })
    expect(costOf({ outputTokens: 1_000_000 }, { model })).toBe(1)
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
    [null, 'budget must be an object'],
    [5, 'budget must be an object'],
    [{ costOf: 5 }, 'budget.costOf must be a function'],
    [{ costOf: () => -1 }, 'budget.costOf knows no price of this model'],
    [{ costOf: () => Infinity }, 'budget.costOf knows no price of this model'],
    [{ costOf: () => 'free' }, 'budget.costOf knows no price of this model'],
    [
      {
        costOf: () => {
          throw new Error('no prices today')
        },
      },
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

function define(budget: unknown): unknown {
  return defineAgent({ name: 'a', llmConfig: { model: 'small' }, budget: budget as Budget })
}

function catchOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
