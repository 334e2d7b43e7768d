// A prompt grows with its conversation, and marks what a provider is to keep.
import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { ModelError, type Message } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, test, vi } from 'vitest'
import { AnswerCollector } from '../src/answer/answer-collector.ts'
import { addCacheHints } from '../src/prompt/cache-hints.ts'
import { Conversation, convertMessage } from '../src/prompt/conversation.ts'
import { familyOf } from '../src/prompt/model-family.ts'
import { PromptMaker } from '../src/prompt/prompt-maker.ts'

const model = new MockLanguageModelV4()
const user = (content: string): Message => ({ role: 'user', content })
const inputOf = (messages: readonly Message[]) =>
  ({ messages, tools: [], config: { model } }) as unknown as Parameters<PromptMaker['make']>[0]

test('a conversation fits the array that it was made of, as long as that only grows', () => {
  const messages = [user('a'), user('b')]
  const conversation = new Conversation()
  expect(conversation.fits(messages)).toBe(true)
  conversation.take(messages, (message) => convertMessage(message, familyOf(model)))
  messages.push(user('c'))
  expect(conversation.fits(messages)).toBe(true)
  expect(conversation.fits([messages[0]!, user('b'), user('c')])).toBe(false)
  expect(conversation.fits([user('a'), messages[1]!])).toBe(false)
  expect(conversation.fits([messages[0]!])).toBe(false)
})

test('what was taken for one step is not taken again for the next', () => {
  const messages = [user('a')]
  const slice = vi.spyOn(messages, 'slice')
  const maker = new PromptMaker(false)
  maker.make(inputOf(messages), model)
  messages.push(user('b'))
  expect(maker.make(inputOf(messages), model)).toHaveLength(2)
  expect(slice.mock.calls).toEqual([[0], [1]])
  messages.splice(0, 2, user('c'), user('d'))
  expect(maker.make(inputOf(messages), model)).toMatchObject([
    { content: [{ text: 'c' }] },
    { content: [{ text: 'd' }] },
  ])
  expect(maker.conversionCount).toBe(4)
})

const marked = (...roles: readonly LanguageModelV4Message['role'][]) => {
  const prompt = roles.map((role) => ({ role, content: [] }) as unknown as LanguageModelV4Message)
  const before = [...prompt]
  addCacheHints(prompt)
  expect(before.every((message) => message.providerOptions === undefined)).toBe(true)
  return prompt.flatMap((message, index) => (message.providerOptions === undefined ? [] : [index]))
}

test('the start, the end and the end of the step before are marked', () => {
  expect(marked('system', 'user', 'assistant', 'tool')).toEqual([0, 1, 3])
  expect(marked('system', 'user', 'assistant')).toEqual([0, 2])
  expect(marked('user', 'assistant', 'user')).toEqual([2])
  expect(marked('system', 'user', 'assistant', 'tool', 'assistant', 'tool')).toEqual([0, 3, 5])
  expect(marked('system')).toEqual([0])
  expect(marked()).toEqual([])
})

test('a mark is one for each provider that wants it, beside what a message has of its own', () => {
  const own = { anthropic: { other: 1 }, mine: { a: 1 } }
  const prompt: LanguageModelV4Message[] = [
    { role: 'user', content: [], providerOptions: own },
    { role: 'user', content: [], providerOptions: own },
  ]
  addCacheHints(prompt)
  expect(prompt.map(({ providerOptions }) => providerOptions)).toEqual([
    own,
    {
      mine: { a: 1 },
      anthropic: { cacheControl: { type: 'ephemeral' } },
      bedrock: { cachePoint: { type: 'default' } },
    },
  ])
})

const piece = (delta: string) => ({ type: 'text-delta', id: '1', delta }) as const

const filled = (characters: number) => {
  const collector = new AnswerCollector({})
  collector.add(piece('x'.repeat(characters)))
  return collector
}

test('each part of an answer counts for something, up to the limit of a session', () => {
  const { maxCharacters } = contentLimits
  expect(() => filled(maxCharacters - 1)).not.toThrow()
  expect(() => filled(maxCharacters)).toThrow(ModelError)
  expect(() => filled(maxCharacters - 1).add(piece(''))).toThrow(ModelError)
  expect(() => filled(maxCharacters - 2).add(piece(''))).not.toThrow()
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'tt', input: '{}' } as const
  expect(() => filled(maxCharacters - 6).add(call)).not.toThrow()
  expect(() => filled(maxCharacters - 5).add(call)).toThrow(ModelError)
  const start = { type: 'text-start', id: '1' } as const
  expect(() => filled(maxCharacters - 2).add(start)).not.toThrow()
  expect(() => filled(maxCharacters - 1).add(start)).toThrow(ModelError)
})
