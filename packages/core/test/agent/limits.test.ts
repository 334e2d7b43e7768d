// Limits of an agent: zero is none of them, the smallest one above it is.
import { AgentDefinitionError, defineAgent } from '@helix-agents/core'
import { expect, test } from 'vitest'

const base = { name: 'a', llmConfig: { model: 'small' } }
const costOf = (): number => 1

function problemsOf(config: object): readonly string[] {
  try {
    defineAgent({ ...base, ...config })
    return []
  } catch (error) {
    if (AgentDefinitionError.isInstance(error)) return error.problems
    throw error
  }
}

test.each([0, -1, Number.NaN, -Infinity])('maxDurationMs %s is refused', (maxDurationMs) => {
  expect(problemsOf({ maxDurationMs })).toEqual([
    'maxDurationMs must be a positive number of milliseconds',
  ])
})

test.each([0, -1, 1.5, Number.NaN, Infinity])('maxSteps %s is refused', (maxSteps) => {
  expect(problemsOf({ maxSteps })).toEqual(['maxSteps must be a positive integer'])
})

test.each(['maxTotalTokens', 'maxInputTokens', 'maxOutputTokens', 'maxCost', 'maxDurationMs'])(
  'a budget with %s of zero or less is refused',
  (key) => {
    for (const limit of [0, -1, Number.NaN]) {
      const problems = problemsOf({ budget: { costOf, [key]: limit } })
      expect(problems).toEqual([`budget.${key} must be a positive number`])
    }
  },
)

test('the smallest limits are taken', () => {
  expect(problemsOf({ maxDurationMs: 1, maxSteps: 1 })).toEqual([])
  for (const key of ['maxTotalTokens', 'maxInputTokens', 'maxOutputTokens', 'maxDurationMs']) {
    expect(problemsOf({ budget: { [key]: 1 } })).toEqual([])
  }
  expect(problemsOf({ budget: { costOf, maxCost: 0.001 } })).toEqual([])
})
