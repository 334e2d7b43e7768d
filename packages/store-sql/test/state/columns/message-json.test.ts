import type { Message } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { fromStorableMessage, toStorableMessage } from '../../../src/state/columns/message-json.ts'

function carried(message: Message): unknown {
  return fromStorableMessage(JSON.parse(JSON.stringify(toStorableMessage(message))))
}

test('bytes come back as bytes, also those of a part of a buffer', () => {
  const whole = Uint8Array.from([9, 0, 255, 128, 9])
  const data = whole.subarray(1, 4)
  const files = [
    { data, mediaType: 'a/b' },
    { data: '$bytes', mediaType: 'c/d' },
    { data: new Uint8Array(), mediaType: 'e/f' },
  ]
  const message = carried({ role: 'user', content: '', files })
  expect(message).toEqual({
    role: 'user',
    content: '',
    files: [{ data: Uint8Array.of(0, 255, 128), mediaType: 'a/b' }, files[1], files[2]],
  })
})

test('what looks like bytes elsewhere stays what it is', () => {
  const toolCalls = [{ id: 'c', name: 'n', arguments: { data: { $bytes: 'AAAA' } } }]
  const message: Message = { role: 'assistant', content: '', toolCalls }
  expect(carried(message)).toEqual(message)
  const metadata = { data: { $bytes: 'AAAA' } }
  const asked: Message = { role: 'user', content: '', metadata }
  expect(carried(asked)).toEqual(asked)
})

test('absent fields stay absent, and a given message is not changed', () => {
  const given: Message = Object.freeze({
    role: 'user',
    content: 'x',
    files: Object.freeze([Object.freeze({ data: Uint8Array.of(1), mediaType: 'a/b' })]),
  })
  const message = carried({ ...given, metadata: undefined } as unknown as Message)
  expect(message).not.toHaveProperty('metadata')
  expect(given.files?.[0]?.data).toBeInstanceOf(Uint8Array)
})

test('a key that names the prototype pollutes nothing', () => {
  const text = '{"role":"assistant","content":"","toolCalls":[{"id":"c","name":"n","arguments":'
  const message = fromStorableMessage(JSON.parse(`${text}{"__proto__":{"polluted":1}}}]}`))
  expect(JSON.stringify(message)).toContain('"__proto__":{"polluted":1}')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

const NOT_MESSAGES = [
  null,
  'text',
  [],
  {},
  { role: 'system', content: '' },
  { role: 'user' },
  { role: 'user', content: '', files: 'x' },
  { role: 'user', content: '', files: [{ data: 1, mediaType: 'a/b' }] },
  { role: 'user', content: '', files: [{ data: { $bytes: '*' }, mediaType: 'a/b' }] },
  { role: 'user', content: '', metadata: [] },
  { role: 'assistant', content: '', thinking: 1 },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c' }] },
  { role: 'tool', toolCallId: 'c', toolName: 'n' },
  { role: 'tool', toolCallId: 'c', toolName: 'n', content: '', isError: 'no' },
  { role: 'tool', toolCallId: 'c', toolName: 'n', content: [{ type: 'audio' }] },
  { role: 'tool', toolCallId: 'c', toolName: 'n', content: [{ type: 'text' }] },
]

for (const value of NOT_MESSAGES) {
  test(`no message: ${JSON.stringify(value)}`, () => {
    expect(fromStorableMessage(value)).toBeUndefined()
  })
}
