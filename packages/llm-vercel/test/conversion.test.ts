// What a session costs: each message is converted once, whatever is asked of the model.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Message, StepInput } from '@helix-agents/core'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

function modelNamed(provider: string, modelId = 'model') {
  const seen: LanguageModelV4CallOptions[] = []
  const model = new MockLanguageModelV4({
    provider,
    modelId,
    doStream: async (options) => {
      seen.push(options)
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'ok' },
        { type: 'text-end', id: '0' },
        { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
      ]
      return { stream: convertArrayToReadableStream(parts) }
    },
  })
  return { model, seen }
}

function inputOf(messages: readonly Message[], model: unknown, more: Partial<StepInput> = {}) {
  return {
    messages,
    tools: [],
    config: { model },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'agent',
    ...more,
  } satisfies StepInput
}

describe('conversions', () => {
  test('are as many as there are messages, over a session of many steps', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const adapter = new VercelAIAdapter()
    const messages: Message[] = [{ role: 'user', content: 'Go.' }]
    for (let step = 0; step < 50; step += 1) {
      await adapter.generateStep(inputOf(messages, model))
      const call = { id: `c${step}`, name: 'tool', arguments: {} }
      messages.push(
        { role: 'assistant', content: 'ok', toolCalls: [call] },
        { role: 'tool', toolCallId: `c${step}`, toolName: 'tool', content: 'done' },
      )
    }
    expect(seen.at(-1)?.prompt).toHaveLength(1 + 49 * 2)
    expect(adapter.conversionCount.messages).toBe(1 + 49 * 2)
  })

  test('are not repeated for a shorter conversation of the same messages', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const adapter = new VercelAIAdapter()
    const messages: Message[] = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }))
    await adapter.generateStep(inputOf(messages, model))
    await adapter.generateStep(inputOf(messages.slice(1), model))
    expect(seen[1]?.prompt).toHaveLength(2)
    expect(adapter.conversionCount.messages).toBe(3)
  })

  test('see that an array was cut and has grown again', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const adapter = new VercelAIAdapter()
    const messages: Message[] = ['a', 'b'].map((content) => ({ role: 'user', content }))
    await adapter.generateStep(inputOf(messages, model))
    messages.splice(1, 1, { role: 'user', content: 'other' })
    await adapter.generateStep(inputOf(messages, model))
    expect(JSON.stringify(seen[1]?.prompt)).toContain('other')
  })

  test('results of one answer are one message', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const calls = ['c1', 'c2'].map((id) => ({ id, name: 'tool', arguments: {} }))
    const results = calls.map(({ id }): Message => ({
      role: 'tool',
      toolCallId: id,
      toolName: 'tool',
      content: id,
    }))
    const messages: Message[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '', toolCalls: calls },
      ...results,
    ]
    await new VercelAIAdapter().generateStep(inputOf(messages, model))
    expect(seen[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(seen[0]?.prompt[2]?.content).toHaveLength(2)
  })

  test('leave out what says nothing', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const messages: Message[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Go on.' },
    ]
    await new VercelAIAdapter().generateStep(inputOf(messages, model))
    expect(seen[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'user'])
  })

  test('put files of results behind them where results are text only', async () => {
    const { model, seen } = modelNamed('openai.chat')
    const media = { type: 'media', mediaType: 'image/png', data: Uint8Array.of(1) } as const
    const messages: Message[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'tool', arguments: {} }] },
      { role: 'tool', toolCallId: 'c', toolName: 'tool', content: [media] },
    ]
    await new VercelAIAdapter().generateStep(inputOf(messages, model))
    expect(seen[0]?.prompt.slice(2)).toMatchObject([
      {
        role: 'tool',
        content: [{ output: { type: 'text', value: '[image/png: in the next message]' } }],
      },
      { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: { data: 'AQ==' } }] },
    ])
  })

  test('give text files as text, and addresses as they are', async () => {
    const { model, seen } = modelNamed('mock.chat')
    const files = [
      { data: new TextEncoder().encode('a,b'), mediaType: 'text/csv', filename: 't.csv' },
      { data: 'https://example.com/a.png', mediaType: 'image/png' },
      { data: 'data:image/png;base64,AQ==', mediaType: 'image/png' },
    ]
    await new VercelAIAdapter().generateStep(inputOf([{ role: 'user', content: '', files }], model))
    expect(seen[0]?.prompt[0]?.content).toEqual([
      { type: 'text', text: '[file t.csv]\na,b' },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'url', url: new URL('https://example.com/a.png') },
      },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQ==' } },
    ])
  })
})

describe('cache hints', () => {
  const messages: Message[] = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'tool', arguments: {} }] },
    { role: 'tool', toolCallId: 'c', toolName: 'tool', content: 'done' },
  ]
  const hint = { anthropic: { cacheControl: { type: 'ephemeral' } } }

  test('stand at the system prompt and at both ends of the last step', async () => {
    const { model, seen } = modelNamed('anthropic.messages')
    const systemPrompt = 'Be brief.'
    await new VercelAIAdapter().generateStep(inputOf(messages, model, { systemPrompt }))
    const marks = seen[0]?.prompt.map(({ providerOptions }) => providerOptions !== undefined)
    expect(marks).toEqual([true, true, false, true])
    expect(seen[0]?.prompt[3]?.providerOptions).toMatchObject(hint)
  })

  test('are only for providers that want them, and can be left to the caller', async () => {
    const adapter = new VercelAIAdapter()
    const openai = modelNamed('openai.responses')
    await adapter.generateStep(inputOf(messages, openai.model))
    const own = modelNamed('anthropic.messages')
    const config = { model: own.model, providerOptions: hint }
    await adapter.generateStep(inputOf(messages, own.model, { config }))
    const off = modelNamed('anthropic.messages')
    await new VercelAIAdapter({ promptCache: false }).generateStep(inputOf(messages, off.model))
    for (const { seen } of [openai, own, off]) {
      expect(JSON.stringify(seen[0]?.prompt)).not.toContain('cacheControl')
    }
  })

  test('do not touch what is kept of the conversation', async () => {
    const { model, seen } = modelNamed('bedrock', 'eu.claude-x')
    const adapter = new VercelAIAdapter()
    const growing = [...messages]
    await adapter.generateStep(inputOf(growing, model))
    growing.push({ role: 'assistant', content: 'ok' }, { role: 'user', content: 'More.' })
    await adapter.generateStep(inputOf(growing, model))
    const marks = seen[1]?.prompt.map(({ providerOptions }) => providerOptions !== undefined)
    expect(marks).toEqual([false, false, true, false, true])
  })
})
