// What each message is for a provider: word for word, by kind of provider.
import type { AssistantMessage, Message, ModelOutput, ToolResultMessage } from '@helix-agents/core'
import { ModelError } from '@helix-agents/core'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { readRecord, writeRecord } from '../../src/prompt/answer-record.ts'
import { Conversation, convertMessage } from '../../src/prompt/conversation.ts'
import { familyOf } from '../../src/prompt/model-family.ts'
import { sentCallId, sentToolName } from '../../src/prompt/sent-names.ts'

const familyNamed = (provider: string, modelId = 'm') =>
  familyOf(new MockLanguageModelV4({ provider, modelId }))
const FILES = familyNamed('mock.chat')
const TEXT_ONLY = familyNamed('openai.chat')
const png = { mediaType: 'image/png', data: Uint8Array.of(1) }
const csv = { mediaType: 'text/csv', data: new TextEncoder().encode('a,b') }

describe('kinds of models', () => {
  test.each([
    ['anthropic.messages', 'x', ['anthropic', true, true, true]],
    ['google.vertex.anthropic', 'claude-x', ['google', true, true, true]],
    ['amazon-bedrock', 'nova', ['amazon-bedrock', true, false, true]],
    ['google.generative-ai', 'gemini', ['google', true, false, false]],
    ['vertex', 'gemini', ['vertex', true, false, false]],
    ['openai.responses', 'gpt', ['openai', true, false, false]],
    ['openai.chat', 'gpt', ['openai', false, false, false]],
    ['gateway', 'any', ['gateway', true, false, true]],
    ['openrouter.chat', 'anthropic/claude-x', ['openrouter', false, true, true]],
    ['my-anthropic', 'x', ['my-anthropic', true, false, true]],
  ])('%s, %s', (name, modelId, [provider, takesFilesInResults, isClaude, wantsCacheHints]) => {
    const family = familyNamed(name, modelId)
    expect(family).toEqual({ provider, takesFilesInResults, isClaude, wantsCacheHints })
    expect(familyNamed(name, modelId)).toBe(family)
  })
})

const userParts = (message: Partial<Extract<Message, { role: 'user' }>>) =>
  convertMessage({ role: 'user', content: '', ...message }, FILES)

describe('a message of the user', () => {
  test('of nothing is none', () => {
    expect(userParts({})).toEqual({ kind: 'empty' })
    expect(userParts({ files: [] })).toEqual({ kind: 'empty' })
  })

  test('has its text before its files', () => {
    const file = { ...png, filename: 'a.png' }
    expect(userParts({ content: 'Look.', files: [file, csv] })).toEqual({
      kind: 'message',
      message: {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          {
            type: 'file',
            mediaType: 'image/png',
            filename: 'a.png',
            data: { type: 'data', data: 'AQ==' },
          },
          { type: 'text', text: '[file text/csv]\na,b' },
        ],
      },
    })
  })

  test.each([
    ['https://a.test/x', { type: 'url', url: new URL('https://a.test/x') }],
    ['HTTP://a.test/x', { type: 'url', url: new URL('http://a.test/x') }],
    ['data:text/csv;base64,AQ==', { type: 'data', data: 'AQ==' }],
    ['AQ==', { type: 'data', data: 'AQ==' }],
  ])('may have the file %s', (data, sent) => {
    const file = { data, mediaType: 'text/csv' }
    expect(userParts({ files: [file] })).toMatchObject({
      message: { content: [{ type: 'file', mediaType: 'text/csv', data: sent }] },
    })
  })

  test('with an address that is none is refused', () => {
    const files = [{ data: 'https://', mediaType: 'image/png' }]
    expect(() => userParts({ files })).toThrow(ModelError)
  })

  test.each([
    ['text/plain', true],
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['application/xml', true],
    ['application/yaml', true],
    ['application/x-ndjson', true],
    ['application/jsonish', false],
    ['application/pdf', false],
    ['image/svg+xml', false],
  ])('sends bytes of %s as text: %s', (mediaType, isText) => {
    const converted = userParts({ files: [{ data: csv.data, mediaType }] })
    expect(converted).toMatchObject({ message: { content: [{ type: isText ? 'text' : 'file' }] } })
  })
})

const resultOf = (content: ModelOutput, more: Partial<ToolResultMessage> = {}) => {
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content, ...more } as const
  return (family: typeof FILES) => {
    const converted = convertMessage(message, family)
    return converted.kind === 'result' ? converted.result : undefined
  }
}

describe('a result of a tool', () => {
  const base = { type: 'tool-result', toolCallId: 'c', toolName: 't' }

  test.each([
    [false, 'text'],
    [true, 'error-text'],
  ])('of text (an error: %s)', (isError, type) => {
    const result = { part: { ...base, output: { type, value: 'done' } }, files: [] }
    expect(resultOf('done', { isError })(FILES)).toEqual(result)
    expect(resultOf('done', { isError })(TEXT_ONLY)).toEqual(result)
  })

  const mixed: ModelOutput = [
    { type: 'text', text: 'here' },
    { type: 'media', ...png },
    { type: 'media', ...csv },
  ]
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQ==' } }
  const told = 'here\n[image/png: in the next message]\na,b'

  test('of files, where results may have them', () => {
    const value = [{ type: 'text', text: 'here' }, file, { type: 'text', text: 'a,b' }]
    expect(resultOf(mixed)(FILES)).toEqual({
      part: { ...base, output: { type: 'content', value } },
      files: [],
    })
  })

  test('of files, where they follow it', () => {
    expect(resultOf(mixed)(TEXT_ONLY)).toEqual({
      part: { ...base, output: { type: 'text', value: told } },
      files: [file],
    })
  })

  test('of files of an error: they follow it everywhere', () => {
    expect(resultOf(mixed, { isError: true })(FILES)).toEqual({
      part: { ...base, output: { type: 'error-text', value: told } },
      files: [file],
    })
  })

  test('has names that its provider takes', () => {
    const claude = familyNamed('anthropic.messages')
    const result = resultOf('x', { toolCallId: 'a|b', toolName: 'no tool' })(claude)
    expect(result?.part).toMatchObject({ toolCallId: 'a_b', toolName: 'no_tool' })
    expect(sentCallId('a|b', FILES)).toBe('a|b')
    expect([sentToolName(''), sentToolName('x'.repeat(65)), sentToolName('a-b_C1')]).toEqual([
      '_',
      'x'.repeat(64),
      'a-b_C1',
    ])
  })
})

const partsOf = (message: Partial<AssistantMessage>, family = FILES) => {
  const converted = convertMessage({ role: 'assistant', content: '', ...message }, family)
  return converted.kind === 'message' ? converted.message.content : converted.kind
}

const text = (words: string) => ({ type: 'text', text: words })

describe('an answer', () => {
  const call = { id: 'c', name: 'run', arguments: { a: 1 } }
  const callPart = { type: 'tool-call', toolCallId: 'c', toolName: 'run', input: { a: 1 } }
  test('without a record is its text and its calls', () => {
    expect(partsOf({})).toBe('empty')
    expect(partsOf({ content: 'Yes.', thinking: 'Hm' })).toEqual([text('Yes.')])
    expect(partsOf({ toolCalls: [call] })).toEqual([callPart])
    expect(partsOf({ content: 'Yes.', toolCalls: [call] })).toEqual([text('Yes.'), callPart])
  })

  test('with arguments that are no object has an empty one', () => {
    for (const given of ['x', 5, null, undefined, [1]]) {
      const toolCalls = [{ ...call, arguments: given }]
      expect(partsOf({ toolCalls })).toStrictEqual([{ ...callPart, input: {} }])
    }
  })

  const metadata = { mock: { signature: 'x' } }
  const recorded = {
    provider: 'mock',
    parts: [
      { kind: 'reasoning', length: 2, metadata },
      { kind: 'text', length: 3 },
      { kind: 'call', length: 0, metadata },
      { kind: 'text', length: 0 },
      { kind: 'text', length: 0, metadata },
      { kind: 'reasoning', length: 3 },
      { kind: 'text', length: 1 },
    ],
  }
  const message = { content: 'Yes.', thinking: 'Hmyes', toolCalls: [call] }

  test('with a record is what its provider gave', () => {
    expect(partsOf({ ...message, providerMetadata: recorded })).toEqual([
      { type: 'reasoning', text: 'Hm', providerOptions: metadata },
      text('Yes'),
      { ...callPart, providerOptions: metadata },
      { type: 'text', text: '', providerOptions: metadata },
      { type: 'reasoning', text: 'yes' },
      text('.'),
    ])
  })

  test('with a record of another provider has no reasoning of it', () => {
    expect(partsOf({ ...message, providerMetadata: recorded }, TEXT_ONLY)).toEqual([
      text('Yes'),
      { ...callPart, providerOptions: metadata },
      { type: 'text', text: '', providerOptions: metadata },
      text('.'),
    ])
  })

  test('with a record that does not fit loses nothing', () => {
    const parts = [
      { kind: 'text', length: 1 },
      { kind: 'call', length: 0 },
      { kind: 'call', length: 0 },
    ]
    const toolCalls = [call]
    const providerMetadata = { provider: 'mock', parts }
    expect(partsOf({ content: 'Yes.', toolCalls, providerMetadata })).toEqual([
      text('Y'),
      callPart,
      text('es.'),
    ])
    const short = { provider: 'mock', parts: parts.slice(0, 1) }
    expect(partsOf({ content: 'Yes.', toolCalls, providerMetadata: short })).toEqual([
      text('Y'),
      text('es.'),
      callPart,
    ])
    const thought = { provider: 'mock', parts: [{ kind: 'reasoning', length: 4 }] }
    expect(partsOf({ content: '', providerMetadata: thought })).toEqual([
      { type: 'reasoning', text: '' },
    ])
  })

  test.each([
    undefined,
    null,
    'x',
    [],
    { parts: [] },
    { provider: 1, parts: [] },
    { provider: 'mock', parts: {} },
    { provider: 'mock', parts: [1] },
    { provider: 'mock', parts: [{ kind: 'image', length: 1 }] },
    { provider: 'mock', parts: [{ kind: 'text', length: '1' }] },
    { provider: 'mock', parts: [{ kind: 'text', length: 1, metadata: 'x' }] },
  ])('has no record in %j', (providerMetadata) => {
    const given = { role: 'assistant', content: '', providerMetadata } as AssistantMessage
    expect(readRecord(given)).toBeUndefined()
  })

  test('is recorded only where the message does not say it all', () => {
    const plain = [
      { kind: 'text', length: 1 },
      { kind: 'call', length: 0 },
    ] as const
    expect(writeRecord({ provider: 'mock', parts: plain })).toBeUndefined()
    const reasoning = { kind: 'reasoning', length: 1 } as const
    expect(writeRecord({ provider: 'mock', parts: [...plain, reasoning] })).toStrictEqual({
      provider: 'mock',
      parts: [...plain, reasoning],
    })
    // Only what JSON can hold is kept.
    const odd = { kind: 'text', length: 1, metadata: { a: { b: undefined, c: 1 } } } as never
    expect(writeRecord({ provider: 'mock', parts: [odd] })).toStrictEqual({
      provider: 'mock',
      parts: [{ kind: 'text', length: 1, metadata: { a: { c: 1 } } }],
    })
  })
})

const result = (id: string): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName: 't',
  content: [{ type: 'media', ...png }],
})

test('results of one answer are one message, with their files behind', () => {
  const conversation = new Conversation()
  const messages: Message[] = [
    { role: 'user', content: 'a' },
    result('1'),
    { role: 'assistant', content: '' },
    result('2'),
    { role: 'user', content: 'b' },
    result('3'),
  ]
  conversation.take(messages, (message) => convertMessage(message, TEXT_ONLY))
  const roles = conversation.prompt().map(({ role, content }) => `${role} ${content.length}`)
  expect(roles).toEqual(['user 1', 'tool 2', 'user 2', 'user 1', 'tool 1', 'user 1'])
  // What is given away may be changed.
  conversation.prompt().pop()
  const [, results] = conversation.prompt()
  if (results?.role === 'tool') results.content.pop()
  expect(conversation.prompt()).toHaveLength(6)
})
