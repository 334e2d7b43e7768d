import { expect, test } from 'vitest'
import { contentLimits } from '../../src/llm/content-limits.ts'
import { isMessage, isModelOutput, sizeProblem } from '../../src/llm/message-shape.ts'
import type { Message } from '../../src/llm/messages.ts'

const bytes = new Uint8Array(1)
const file = { data: bytes, mediaType: 'image/png' }
const call = { id: 'c', name: 't', arguments: {} }
const text = { type: 'text', text: 'x' }
const media = { type: 'media', data: bytes, mediaType: 'image/png' }
const user = { role: 'user', content: 'x' }
const assistant = { role: 'assistant', content: 'x' }
const result = { role: 'tool', toolCallId: 'c', toolName: 't', content: 'x' }

test.each([
  user,
  { ...user, files: [], metadata: {} },
  { ...user, files: [file, { ...file, data: 'base64', filename: 'a.png' }] },
  assistant,
  { ...assistant, thinking: '', toolCalls: [call] },
  result,
  { ...result, isError: true },
  { ...result, content: [] },
  { ...result, content: [text, media] },
])('%j is a message', (message) => {
  expect(isMessage(message)).toBe(true)
})

test.each([
  undefined,
  null,
  'text',
  [],
  {},
  { role: 'system', content: 'x' },
  { role: 'user' },
  { ...user, content: 1 },
  { ...user, files: file },
  { ...user, files: ['text'] },
  { ...user, files: [{ ...file, data: 1 }] },
  { ...user, files: [{ ...file, mediaType: 1 }] },
  { ...user, files: [{ ...file, filename: 1 }] },
  { ...user, files: [file, null] },
  { ...user, metadata: 'text' },
  { ...user, metadata: null },
  { ...user, metadata: [] },
  { ...assistant, thinking: 1 },
  { ...assistant, toolCalls: {} },
  { ...assistant, toolCalls: [{ ...call, id: 1 }] },
  { ...assistant, toolCalls: [{ ...call, name: 1 }] },
  { ...assistant, toolCalls: [call, 'text'] },
  { ...result, toolCallId: 1 },
  { ...result, toolName: 1 },
  { ...result, isError: 'yes' },
  { ...result, content: undefined },
  { ...result, content: 1 },
  { ...result, content: [{ type: 'text' }] },
  { ...result, content: [{ ...media, data: 'text' }] },
  { ...result, content: [{ ...media, mediaType: 1 }] },
  { ...result, content: [{ ...media, type: 'other' }] },
])('%j is no message', (message) => {
  expect(isMessage(message)).toBe(false)
})

test('fields of one role do not count for another', () => {
  expect(isMessage({ ...user, toolCalls: 'x', thinking: 1 })).toBe(true)
  expect(isMessage({ ...assistant, files: 'x', metadata: 1 })).toBe(true)
})

test('a tool gives a text, or parts', () => {
  expect(['x', [], [text, media]].map(isModelOutput)).toEqual([true, true, true])
  expect([undefined, null, {}, [1], 1].map(isModelOutput)).toEqual(Array(5).fill(false))
})

const { maxCharacters, maxFileBytes, maxIdCharacters } = contentLimits
const large = 'x'.repeat(maxCharacters)
const long = 'x'.repeat(maxIdCharacters + 1)
const problemOf = (message: object) => sizeProblem(message as Message)

test.each([
  ['a user message at the limit', { ...user, content: large }],
  ['files at the limit', { ...user, files: [{ ...file, data: new Uint8Array(maxFileBytes) }] }],
  ['an answer at the limit', { ...assistant, content: large }],
  ['a result at the limit', { ...result, content: large }],
  ['a long id of an answer', { ...assistant, toolCalls: [{ ...call, id: long.slice(1) }] }],
])('%s is kept', (_what, message) => {
  expect(problemOf(message)).toBeUndefined()
})

test.each([
  ['text', { ...user, content: `${large}x` }, 'too-large'],
  ['text and metadata', { ...user, content: large, metadata: {} }, 'too-large'],
  ['metadata', { ...user, metadata: { a: 1n } }, 'not-json'],
  [
    'files',
    { ...user, files: [{ ...file, data: new Uint8Array(maxFileBytes) }, file] },
    'too-large',
  ],
  [
    'files as text',
    { ...user, files: [{ ...file, data: 'x'.repeat(maxFileBytes + 1) }] },
    'too-large',
  ],
  ['the text of an answer', { ...assistant, content: `${large}x` }, 'too-large'],
  ['thoughts', { ...assistant, content: large, thinking: 'x' }, 'too-large'],
  ['what a provider adds', { ...assistant, providerMetadata: [1n] }, 'not-json'],
  ['arguments', { ...assistant, content: large, toolCalls: [call] }, 'too-large'],
  ['a later call', { ...assistant, toolCalls: [call, { ...call, arguments: 1n }] }, 'not-json'],
  ['the id of a call', { ...assistant, toolCalls: [call, { ...call, id: long }] }, 'id'],
  ['the name of a call', { ...assistant, toolCalls: [{ ...call, name: long }] }, 'id'],
  ['the id of a result', { ...result, toolCallId: long }, 'id'],
  ['the name of a result', { ...result, toolName: long }, 'id'],
  ['the text of a result', { ...result, content: `${large}x` }, 'too-large'],
  ['parts of text', { ...result, content: [text, { type: 'text', text: large }] }, 'too-large'],
  [
    'parts of bytes',
    { ...result, content: [media, { ...media, data: new Uint8Array(maxFileBytes) }] },
    'too-large',
  ],
])('%s may be too much', (_what, message, problem) => {
  expect(problemOf(message)).toBe(problem)
})
