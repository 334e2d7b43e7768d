import { MockLLMAdapter, type StepInput } from '@helix-agents/core'
import { expect, test } from 'vitest'

function input(over: Partial<StepInput> = {}): StepInput {
  return {
    messages: [],
    tools: [],
    config: { model: {} },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'r',
    agentType: 'a',
    ...over,
  }
}

const text = (content: string) => ({ type: 'text', content, shouldStop: true }) as const

test('plays its steps in order, and says when there are no more', async () => {
  const adapter = new MockLLMAdapter([
    text('one'),
    ({ messages }) => text(`${messages.length} messages`),
    async () => text('three'),
  ])
  const answers = [await adapter.generateStep(input()), await adapter.generateStep(input())]
  answers.push(await adapter.generateStep(input()))
  expect(answers).toMatchObject([
    { content: 'one' },
    { content: '0 messages' },
    { content: 'three' },
  ])
  await expect(adapter.generateStep(input())).rejects.toThrow(/only 3 steps/)
  expect(adapter.callCount).toBe(4)
})

test('speaks its text and its thoughts', async () => {
  const heard: unknown[] = []
  const callbacks = {
    onTextDelta: (delta: string) => void heard.push(delta),
    onThinking: (content: string, isComplete: boolean) => void heard.push([content, isComplete]),
  }
  const adapter = new MockLLMAdapter([
    { ...text('Hello'), thinking: 'Hm' },
    { type: 'tool_calls', toolCalls: [] },
  ])
  await adapter.generateStep(input({ callbacks }))
  await adapter.generateStep(input({ callbacks }))
  expect(heard).toEqual([['Hm', true], 'Hello'])
})

test('honours an abort before and during a step', async () => {
  const abort = new AbortController()
  const adapter = new MockLLMAdapter([() => (abort.abort(), text('late')), text('never')])
  const aborted = input({ abortSignal: abort.signal })
  await expect(adapter.generateStep(aborted)).rejects.toMatchObject({ name: 'AbortError' })
  await expect(adapter.generateStep(aborted)).rejects.toMatchObject({ name: 'AbortError' })
})
