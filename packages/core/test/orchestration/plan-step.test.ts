import {
  createToolResultMessage,
  planStepProcessing,
  shouldStopExecution,
  type StopConditions,
} from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'

describe('planStepProcessing', () => {
  test('a text is an answer, final or not', () => {
    const plan = planStepProcessing({
      type: 'text',
      content: 'Hi',
      thinking: 'Hm',
      shouldStop: false,
    })
    expect(plan).toEqual({
      type: 'answer',
      isFinal: false,
      message: { role: 'assistant', content: 'Hi', thinking: 'Hm' },
    })
  })

  test.each([{ text: 'x' }, { type: 'texts', content: 'x' }, { type: true }])(
    'a step of no known type is a final error, not an end: %j',
    (step) => {
      const plan = planStepProcessing(step as never)
      expect(plan).toMatchObject({ type: 'error', isFinal: true, error: { code: 'model-failed' } })
    },
  )

  test('calls keep their order and get ids that differ', () => {
    const plan = planStepProcessing({
      type: 'tool_calls',
      toolCalls: [
        { id: 'x', name: 'a', arguments: {} },
        { id: 'x', name: 'b', arguments: {} },
        { id: '', name: 'c', arguments: {} },
        { id: 'x_4', name: 'd', arguments: {} },
        { id: 'x', name: 'e', arguments: {} },
      ],
    })
    if (plan.type !== 'calls') throw new Error('expected calls')
    expect(plan.toolCalls.map(({ id, name }) => [id, name])).toEqual([
      ['x', 'a'],
      ['x_1', 'b'],
      ['call_2', 'c'],
      ['x_4', 'd'],
      ['x_4_4', 'e'],
    ])
    expect(plan.message.toolCalls).toBe(plan.toolCalls)
  })

  test('good calls are kept as they are', () => {
    const toolCalls = [{ id: 'x', name: 'a', arguments: {} }]
    const plan = planStepProcessing({ type: 'tool_calls', toolCalls, content: 'So' })
    expect(plan).toMatchObject({ message: { content: 'So' } })
    expect('toolCalls' in plan && plan.toolCalls).toBe(toolCalls)
  })

  test('calls without a call are a final answer', () => {
    const plan = planStepProcessing({ type: 'tool_calls', toolCalls: [], content: 'Done' })
    expect(plan).toMatchObject({ type: 'answer', isFinal: true, message: { content: 'Done' } })
  })

  test('an output and an error', () => {
    expect(planStepProcessing({ type: 'structured_output', output: { a: 1 } })).toMatchObject({
      type: 'output',
      output: { a: 1 },
      message: { content: '{"a":1}' },
    })
    expect(planStepProcessing({ type: 'error', error: 1, shouldStop: true })).toEqual({
      type: 'error',
      error: 1,
      isFinal: true,
    })
  })
})

test('an endless result is cut in the middle', () => {
  const content = 'x'.repeat(1_000_000)
  const message = createToolResultMessage({ id: 'a', name: 't' }, { content })
  expect(message.content.length).toBeLessThan(250_000)
  expect(message.isError).toBeUndefined()
})

describe('shouldStopExecution', () => {
  const run: StopConditions = {
    aborted: false,
    interrupted: false,
    steps: 1,
    maxSteps: 2,
    elapsedMs: 1,
  }

  test.each([
    [undefined, {}],
    ['aborted', { aborted: true, interrupted: true, steps: 2 }],
    ['interrupted', { interrupted: true, steps: 2 }],
    ['max-steps', { steps: 2 }],
    ['max-duration', { elapsedMs: 10, maxDurationMs: 10 }],
    [undefined, { elapsedMs: 9, maxDurationMs: 10 }],
  ])('%s', (reason, conditions) => {
    expect(shouldStopExecution({ ...run, ...conditions })).toBe(reason)
  })
})
