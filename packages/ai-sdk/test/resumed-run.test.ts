import { createSubAgentTool, defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { toUIMessageStream } from '@helix-agents/ai-sdk'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { readUIMessageStream, type UIMessage } from 'ai'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { messageOf, run } from './chunks.ts'

const text = (delta: string) => ({ type: 'text_delta', delta }) as const
const resumed = { agentId: 'run-2' }

test('what a model that was cut off has said is taken back, what is stored stays', async () => {
  const call = { toolCallId: 'a', toolName: 'look' }
  const { message, errors } = await messageOf(
    run(
      text('One.'),
      { type: 'tool_start', ...call, arguments: {} },
      { type: 'tool_start', ...call, arguments: {}, ...resumed },
      { type: 'tool_end', ...call, success: true, result: 1, ...resumed },
      { ...text('Tw'), ...resumed },
      { ...text('Two.'), agentId: 'run-3' },
      { type: 'output', output: 'Two.', agentId: 'run-3' },
    ),
  )
  expect(errors).toEqual([])
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { text: 'One.' },
    { toolCallId: 'a', output: 1 },
    { type: 'step-start' },
    { text: 'Two.' },
  ])
})

test('a run that was resumed after its answer was stored still shows it', async () => {
  const output = { type: 'output', output: 'Hello', ...resumed } as const
  const { message } = await messageOf(run(text('Hello'), output))
  expect(message?.parts).toMatchObject([{ type: 'step-start' }, { text: 'Hello' }])
})

test('a run that was resumed in the middle of a sub-agent is shown to its end', async () => {
  const llmConfig = { model: 'scripted' }
  const child = defineAgent({ name: 'child', llmConfig })
  const tools = [createSubAgentTool(child, z.object({}))]
  const parent = defineAgent({ name: 'parent', llmConfig, tools })
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const isAsked = Promise.withResolvers<void>()
  const ask = { id: '1', name: 'subagent__child', arguments: {} }
  const before = new MockLLMAdapter([
    { type: 'tool_calls', toolCalls: [ask] },
    () => {
      isAsked.resolve()
      return new Promise(() => {})
    },
  ])
  await new JSAgentExecutor(store, streams, before).execute(parent, 'Go.', { sessionId: 's' })
  await isAsked.promise
  const after = new MockLLMAdapter([
    { type: 'text', content: 'of the child', shouldStop: true },
    { type: 'text', content: 'Done.', shouldStop: true },
  ])
  // The process has died, and its lease is out.
  const clock = new ManualClock(Date.now() + 3_600_000)
  const handle = await new JSAgentExecutor(store, streams, after, { clock }).resume(parent, 's')
  let shown: UIMessage | undefined
  const stream = toUIMessageStream(handle.stream())
  for await (const message of readUIMessageStream({ stream })) shown = message
  expect(shown?.parts).toMatchObject([
    { type: 'step-start' },
    { toolCallId: '1', state: 'output-available' },
    { type: 'step-start' },
    { text: 'Done.' },
  ])
})

test('a sub-agent of the same kind as its parent is not taken for it', async () => {
  const sub = { toolCallId: '1', subAgentType: 'writer', subSessionId: 's1' }
  const call = { toolCallId: '1', toolName: 'subagent__writer' }
  const { message, errors } = await messageOf(
    run(
      { type: 'tool_start', ...call, arguments: {} },
      { type: 'subagent_start', ...sub },
      { ...text('of the child'), agentId: 'child' },
      { type: 'subagent_start', ...sub, subSessionId: 's1/s1-0', agentId: 'child' },
      { type: 'subagent_start', ...sub, ...resumed },
      { type: 'subagent_end', ...sub, success: true, ...resumed },
      { type: 'tool_end', ...call, success: true, result: 1, ...resumed },
      { ...text('Done.'), ...resumed },
      { type: 'output', output: 'Done.', ...resumed },
    ),
  )
  expect(errors).toEqual([])
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { toolCallId: '1', output: 1 },
    { type: 'step-start' },
    { text: 'Done.' },
  ])
})
