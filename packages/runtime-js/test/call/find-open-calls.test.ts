// Which calls at the end of a conversation have no result.
import type { Message } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { findOpenCalls } from '../../src/call/find-open-calls.ts'

const user: Message = { role: 'user', content: 'Go' }
const ask = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: {} })),
})
const result = (toolCallId: string): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'look',
  content: 'x',
})
const open = (...messages: readonly Message[]) =>
  findOpenCalls(messages).map(({ call, index }) => `${call.id}${index}`)

test('those of the last answer that no result stands behind', () => {
  expect(open()).toEqual([])
  expect(open(user)).toEqual([])
  expect(open(user, { role: 'assistant', content: 'done' })).toEqual([])
  expect(open(user, ask('a', 'b'))).toEqual(['a0', 'b1'])
  expect(open(user, ask('a', 'b'), result('a'))).toEqual(['b1'])
  expect(open(user, ask('a', 'b'), result('b'), result('a'))).toEqual([])
  expect(open(user, ask('a'), user)).toEqual([])
  // Ids are used again: a result of an earlier step is none of this one.
  expect(open(user, ask('a'), result('a'), ask('a', 'b'), result('b'))).toEqual(['a0'])
  expect(open(user, result('a'))).toEqual([])
})

test('each as one that an earlier run left, and that no journal tells of', () => {
  const call = { id: 'a', name: 'look', arguments: {} }
  expect(findOpenCalls([user, ask('a')])).toEqual([
    { call, index: 0, isRecovered: true, isJournaled: false, asks: false },
  ])
})
