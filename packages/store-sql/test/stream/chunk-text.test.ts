import type { StreamChunk } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { fromChunkText, toChunkText } from '../../src/stream/chunk-text.ts'
import { text } from './script.ts'

const MAX = 4096
const bytesOf = (json: string): number => new TextEncoder().encode(json).length

/** A chunk whose JSON has so many bytes. */
function ofBytes(bytes: number): StreamChunk {
  return text('x'.repeat(bytes - bytesOf(JSON.stringify(text('')))))
}

test('a chunk up to the largest one is whole, of a larger one its biggest field is cut', () => {
  const whole = toChunkText(ofBytes(MAX), MAX)
  expect([whole.bytes, whole.json]).toEqual([MAX, JSON.stringify(ofBytes(MAX))])
  const cut = toChunkText(ofBytes(MAX + 1), MAX)
  expect(cut.bytes).toBeLessThan(MAX)
  expect(JSON.parse(cut.json)).toMatchObject({ type: 'text_delta', truncated: ['delta'] })
})

test('bytes are those of UTF-8', () => {
  const { json, bytes } = toChunkText(text('\u00e9\u20ac\u{1f600}'), MAX)
  expect([bytes - json.length, bytes]).toEqual([5, bytesOf(json)])
})

test('what cannot be inspected leaves a chunk without its fields', () => {
  const chunk = Object.defineProperty({ ...text('x'), extra: 1 }, 'extra', {
    enumerable: true,
    get: () => {
      throw new Error('not for you')
    },
  })
  const { json, bytes } = toChunkText(chunk, MAX)
  const truncated = ['type', 'delta', 'agentId', 'agentType', 'timestamp', 'extra']
  expect(JSON.parse(json)).toEqual({
    type: 'text_delta',
    agentId: 'r',
    agentType: 'a',
    timestamp: 1000,
    truncated,
  })
  expect(bytes).toBe(json.length)
})

test('a stored chunk gets its sequence number; what is none is damaged', () => {
  const { json } = toChunkText(text('x'), MAX)
  expect(fromChunkText(json, 7)).toEqual({ ...text('x'), sequence: 7 })
  for (const bad of ['{', 'null', '1', '"type"', '{}', '[]', '']) {
    expect(() => fromChunkText(bad, 1)).toThrow(
      expect.objectContaining({ kind: 'corrupt', message: 'a chunk cannot be read' }),
    )
  }
})
