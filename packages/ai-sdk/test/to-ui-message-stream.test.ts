import { defineAgent, defineTool, MockLLMAdapter } from '@helix-agents/core'
import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { readUIMessageStream, type UIMessage } from 'ai'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { chunksOf, messageOf, run } from './chunks.ts'

const call = (id: string, toolName = 'look') => ({ toolCallId: id, toolName })
const output = { type: 'output', output: 'done' } as const
const text = (delta: string) => ({ type: 'text_delta', delta }) as const
const sub = (id: string) => ({ subAgentType: 'writer', subSessionId: id })

function outline(message: UIMessage | undefined) {
  return message?.parts.map((part) => [
    part.type,
    'text' in part ? part.text : '',
    'toolCallId' in part ? [part.toolCallId, part.state] : '',
  ])
}

test('a text is one part, in a step', async () => {
  expect(await chunksOf(run(text('Hel'), text('lo'), output))).toEqual([
    { type: 'start', messageId: 'run-1' },
    { type: 'start-step' },
    { type: 'text-start', id: 'text-1' },
    { type: 'text-delta', id: 'text-1', delta: 'Hel' },
    { type: 'text-delta', id: 'text-1', delta: 'lo' },
    { type: 'text-end', id: 'text-1' },
    { type: 'finish-step' },
    { type: 'finish' },
  ])
})

test('calls, their answers and the next step are parts of the message', async () => {
  const { message, errors } = await messageOf(
    run(
      { type: 'thinking', content: 'I loo', isComplete: false },
      { type: 'thinking', content: 'k.', isComplete: false },
      { type: 'thinking', content: 'I look.', isComplete: true },
      text('Looking.'),
      { type: 'tool_input_delta', ...call('a'), delta: '{"x":' },
      { type: 'tool_input_delta', ...call('a'), delta: '1}' },
      { type: 'tool_start', ...call('a'), arguments: { x: 1 } },
      { type: 'tool_start', ...call('b'), arguments: { x: 2 } },
      { type: 'tool_progress', ...call('a'), output: 'stdout', text: 'half' },
      { type: 'tool_end', ...call('b'), success: true, result: { found: 2 } },
      {
        type: 'tool_end',
        ...call('a'),
        success: false,
        error: { code: 'not-found', message: '/x: no such file' },
      },
      text('Nothing.'),
      output,
    ),
    { messageId: 'm' },
  )
  expect(errors).toEqual([])
  expect(message?.id).toBe('m')
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'reasoning', text: 'I look.', state: 'done' },
    { type: 'text', text: 'Looking.', state: 'done' },
    {
      type: 'dynamic-tool',
      toolCallId: 'a',
      state: 'output-error',
      input: { x: 1 },
      errorText: '/x: no such file',
    },
    { type: 'dynamic-tool', toolCallId: 'b', state: 'output-available', output: { found: 2 } },
    { type: 'step-start' },
    { type: 'text', text: 'Nothing.' },
  ])
})

describe('ends', () => {
  test('an error of the run', async () => {
    const chunks = await chunksOf(
      run(text('Hm'), { type: 'error', code: 'max-steps', message: 'too many steps' }),
      { errorText: ({ code }) => `Sorry (${code}).` },
    )
    expect(chunks.slice(-4)).toEqual([
      { type: 'text-end', id: 'text-1' },
      { type: 'finish-step' },
      { type: 'error', errorText: 'Sorry (max-steps).' },
      { type: 'finish' },
    ])
  })

  test('an output that is no text is a part of its own', async () => {
    const { message } = await messageOf(run({ type: 'output', output: { answer: 42 } }))
    expect(message?.parts).toEqual([{ type: 'data-output', data: { answer: 42 } }])
  })

  test('a text that the model has not said is said', async () => {
    const { message } = await messageOf(
      run(
        { type: 'tool_start', ...call('a'), arguments: {} },
        { type: 'tool_end', ...call('a'), success: true, result: 'from a tool' },
        { type: 'output', output: 'from a tool' },
      ),
    )
    expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'from a tool' })
  })

  test('a run that was paused or aborted, and one that said nothing', async () => {
    expect((await chunksOf(run(text('Hm')))).slice(-2)).toEqual([
      { type: 'abort' },
      { type: 'finish' },
    ])
    expect(await chunksOf(run())).toEqual([
      { type: 'start' },
      { type: 'abort' },
      { type: 'finish' },
    ])
  })
})

test('of a sub-agent only the call is shown, also when two run at once', async () => {
  const { message, errors } = await messageOf(
    run(
      { type: 'tool_start', ...call('1', 'subagent__writer'), arguments: {} },
      { type: 'tool_start', ...call('2', 'subagent__writer'), arguments: {} },
      { type: 'subagent_start', toolCallId: '1', ...sub('s1') },
      { type: 'subagent_start', toolCallId: '2', ...sub('s2') },
      { ...text('of one'), agentId: 'sub-1' },
      { type: 'tool_start', ...call('x'), arguments: {}, agentId: 'sub-2' },
      { type: 'tool_end', ...call('x'), success: true, agentId: 'sub-2' },
      { type: 'output', output: 'of one', agentId: 'sub-1' },
      { type: 'subagent_end', toolCallId: '1', ...sub('s1'), success: true },
      { ...text('of two'), agentId: 'sub-2' },
      { type: 'subagent_end', toolCallId: '2', ...sub('s2'), success: true },
      { type: 'tool_end', ...call('1', 'subagent__writer'), success: true, result: 'one' },
      { type: 'tool_end', ...call('2', 'subagent__writer'), success: true, result: 'two' },
      text('Both.'),
      output,
    ),
  )
  expect(errors).toEqual([])
  expect(message?.parts.map((part) => ('output' in part ? part.output : part.type))).toEqual([
    'step-start',
    'one',
    'two',
    'step-start',
    'text',
  ])
})

test('after missed chunks the rest is shown, and the chat is told', async () => {
  const chunks = run(
    { type: 'stream_resync', reason: 'buffer-overrun', nextSequence: 2 },
    { type: 'tool_end', ...call('a'), success: true, result: 1 },
    text('End.'),
    output,
  )
  const { message, errors } = await messageOf(chunks)
  expect(errors).toEqual([])
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'dynamic-tool', state: 'output-available', output: 1 },
    { type: 'step-start' },
    { text: 'End.' },
  ])
  const told = await chunksOf(
    run({ type: 'stream_resync', reason: 'new-run', nextSequence: 2 }, text('New.'), output),
  )
  expect(told.filter(({ type }) => type === 'start' || type === 'data-resync')).toEqual([
    { type: 'start' },
    { type: 'data-resync', data: { reason: 'new-run' }, transient: true },
  ])
})

test('what a tool returns is JSON for the chat, whatever it is', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const chunks = await chunksOf(
    run(
      { type: 'tool_start', ...call('a'), arguments: {} },
      {
        type: 'tool_end',
        ...call('a'),
        success: true,
        result: { big: 1n, at: new Uint8Array([1]) },
      },
      { type: 'custom', eventName: 'x', data: circular },
      output,
    ),
  )
  expect(JSON.parse(JSON.stringify(chunks))).toEqual(chunks)
  expect(chunks.find(({ type }) => type === 'tool-output-available')).toMatchObject({
    output: { big: '1', at: { $bytes: 'AQ==' } },
  })
})

test('whoever leaves ends the reading', async () => {
  let isReturned = false
  async function* endless() {
    try {
      for (;;) yield* run(text('.'))
    } finally {
      isReturned = true
    }
  }
  const reader = toUIMessageStream(endless()).getReader()
  await reader.read()
  await reader.cancel()
  expect(isReturned).toBe(true)
})

test('a real run is shown alike while it runs and from the store', async () => {
  const count = defineTool({
    name: 'count',
    description: '',
    inputSchema: z.object({}),
    execute: () => {
      throw new Error('cannot count')
    },
  })
  const agent = defineAgent({
    name: 'writer',
    llmConfig: { model: 'scripted' },
    tools: [count],
    workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
  })
  const write = { path: '/a.txt', content: 'a' }
  const model = new MockLLMAdapter([
    {
      type: 'tool_calls',
      content: 'I write.',
      thinking: 'A file.',
      toolCalls: [
        { id: '1', name: 'workspace__notes__write_file', arguments: write },
        { id: '2', name: 'count', arguments: {} },
      ],
    },
    { type: 'text', content: 'Written.', shouldStop: true },
  ])
  const store = new InMemoryStateStore()
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model, {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const handle = await executor.execute(agent, 'Write.', { sessionId: 's' })
  let live: UIMessage | undefined
  const stream = toUIMessageStream(handle.stream())
  for await (const message of readUIMessageStream({ stream })) live = message
  const { messages } = await store.loadMessages('s')
  const [user, stored] = toUIMessages(messages)
  expect(user).toEqual({ id: 'message-0', role: 'user', parts: [{ type: 'text', text: 'Write.' }] })
  expect(outline(live)).toEqual(outline(stored))
  expect(outline(stored)).toEqual([
    ['step-start', '', ''],
    ['reasoning', 'A file.', ''],
    ['text', 'I write.', ''],
    ['dynamic-tool', '', ['1', 'output-available']],
    ['dynamic-tool', '', ['2', 'output-error']],
    ['step-start', '', ''],
    ['text', 'Written.', ''],
  ])
})
