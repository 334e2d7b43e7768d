import type { Message } from '@helix-agents/core'
import { toUIMessages } from '@helix-agents/ai-sdk'
import { expect, test } from 'vitest'

const png = new Uint8Array([1, 2, 3])
const call = (id: string) => ({ id, name: 'look', arguments: { at: id } })
const answer = (
  id: string,
  content: Extract<Message, { role: 'tool' }>['content'],
  isError?: true,
) =>
  ({
    role: 'tool',
    toolCallId: id,
    toolName: 'look',
    content,
    ...(isError && { isError }),
  }) as const

const messages: readonly Message[] = [
  {
    role: 'user',
    content: 'Look.',
    files: [
      { data: png, mediaType: 'image/png', filename: 'a.png' },
      { data: 'AQID', mediaType: 'image/png' },
      { data: 'https://example.com/a.png', mediaType: 'image/png' },
    ],
  },
  { role: 'assistant', content: '', toolCalls: [call('a'), call('b'), call('c')] },
  answer('a', 'seen'),
  answer('b', [
    { type: 'text', text: 'a picture' },
    { type: 'media', mediaType: 'image/png', data: png },
  ]),
  { role: 'assistant', content: 'There.', thinking: 'Hm.' },
  { role: 'user', content: 'And now?' },
  { role: 'assistant', content: '', toolCalls: [call('d')] },
  answer('d', 'Error [not-found]: /d', true),
]

test('a turn of the agent is one message, with the answers of its calls', () => {
  const shown = toUIMessages(messages)
  expect(shown.map(({ id, role }) => [id, role])).toEqual([
    ['message-0', 'user'],
    ['message-1', 'assistant'],
    ['message-5', 'user'],
    ['message-6', 'assistant'],
  ])
  const tool = { type: 'dynamic-tool', toolName: 'look' }
  expect(shown[1]?.parts).toEqual([
    { type: 'step-start' },
    { ...tool, toolCallId: 'a', input: { at: 'a' }, state: 'output-available', output: 'seen' },
    {
      ...tool,
      toolCallId: 'b',
      input: { at: 'b' },
      state: 'output-available',
      output: [
        { type: 'text', text: 'a picture' },
        { type: 'media', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
      ],
    },
    { ...tool, toolCallId: 'c', input: { at: 'c' }, state: 'input-available' },
    { type: 'step-start' },
    { type: 'reasoning', text: 'Hm.', state: 'done' },
    { type: 'text', text: 'There.', state: 'done' },
  ])
  expect(shown[3]?.parts[1]).toMatchObject({
    state: 'output-error',
    errorText: 'Error [not-found]: /d',
  })
})

test('files of the user are addresses', () => {
  const [user] = toUIMessages(messages)
  expect(user?.parts).toEqual([
    { type: 'text', text: 'Look.' },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID', filename: 'a.png' },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
    { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
  ])
})

test('ids of a later page go on', () => {
  expect(toUIMessages(messages.slice(5), { firstId: 5 }).map(({ id }) => id)).toEqual([
    'message-5',
    'message-6',
  ])
})
