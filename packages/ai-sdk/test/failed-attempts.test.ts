import { expect, test } from 'vitest'
import { messageOf, run } from './chunks.ts'

const call = (id: string, toolName = 'look') => ({ toolCallId: id, toolName })
const output = { type: 'output', output: 'done' } as const
const text = (delta: string) => ({ type: 'text_delta', delta }) as const

test('what a failed attempt of the model said is taken back', async () => {
  const retry = { code: 'overloaded', message: '', attempt: 1, delayMs: 1 }
  const { message, errors } = await messageOf(
    run(
      text('First.'),
      { type: 'tool_start', ...call('a'), arguments: {} },
      { type: 'tool_end', ...call('a'), success: true },
      text('Wro'),
      { type: 'tool_input_delta', ...call('b'), delta: '{' },
      { type: 'model_retry', ...retry, discardsOutput: true },
      text('Right.'),
      { type: 'tool_input_delta', ...call('b'), delta: '{}' },
      { type: 'tool_start', ...call('b'), arguments: {} },
      { type: 'tool_end', ...call('b'), success: true, result: 1 },
      { type: 'model_retry', ...retry, discardsOutput: false },
      text('End.'),
      output,
    ),
  )
  expect(errors).toEqual([])
  const shown = message?.parts.map((part) => ('text' in part ? part.text : part.type))
  expect(shown).toEqual([
    'step-start',
    'First.',
    'dynamic-tool',
    'step-start',
    'Right.',
    'dynamic-tool',
    'step-start',
    'End.',
  ])
})

test('an attempt that said nothing takes back nothing of the step before', async () => {
  const { message, errors } = await messageOf(
    run(
      text('First.'),
      { type: 'tool_start', ...call('a'), arguments: {} },
      { type: 'tool_end', ...call('a'), success: true },
      { type: 'model_retry', code: 'x', message: '', attempt: 1, delayMs: 1, discardsOutput: true },
      text('End.'),
      output,
    ),
  )
  expect(errors).toEqual([])
  const shown = message?.parts.map((part) => ('text' in part ? part.text : part.type))
  expect(shown).toEqual(['step-start', 'First.', 'dynamic-tool', 'step-start', 'End.'])
})

test('an output is shown where the text before it was taken back', async () => {
  const { message, errors } = await messageOf(
    run(
      text('Wro'),
      { type: 'model_retry', code: 'x', message: '', attempt: 1, delayMs: 1, discardsOutput: true },
      { type: 'tool_start', ...call('a', 'finish'), arguments: {} },
      { type: 'tool_end', ...call('a', 'finish'), success: true, result: 'done' },
      output,
    ),
  )
  expect(errors).toEqual([])
  expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'done' })
})
