import type { StreamChunk } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { boundChunk } from '../src/bounded-chunk.ts'

const MAX = 6000

function text(delta: string): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp: 1000 }
}

/** What a chunk without text counts for, and what its JSON takes. */
const EMPTY = boundChunk(text(''), MAX).bytes
const EMPTY_JSON = JSON.stringify(text('')).length

test('a chunk whose JSON fits in any case counts its characters, and is not copied', () => {
  const chunk = text('é'.repeat(MAX / 6 - EMPTY))
  const bounded = boundChunk(chunk, MAX)
  expect([bounded.chunk === chunk, bounded.bytes]).toEqual([true, MAX / 6])
})

test('of a longer one the bytes of its JSON count, up to the limit', () => {
  const longer = text('é'.repeat(MAX / 6 - EMPTY + 1))
  const bounded = boundChunk(longer, MAX)
  expect(bounded.chunk).toBe(longer)
  expect(bounded.bytes).toBe(new TextEncoder().encode(JSON.stringify(longer)).length)
  const longest = text('x'.repeat(MAX - EMPTY_JSON))
  expect(boundChunk(longest, MAX)).toEqual({ chunk: longest, bytes: MAX })
  expect(boundChunk(longest, MAX).chunk).toBe(longest)
})

test('one that is too long is cut, and says where', () => {
  const { chunk, bytes } = boundChunk(text('x'.repeat(MAX - EMPTY_JSON + 1)), MAX)
  expect(chunk).toMatchObject({ type: 'text_delta', agentId: 'r', truncated: ['delta'] })
  expect(bytes).toBe(JSON.stringify(chunk).length)
  expect(bytes).toBeLessThan(MAX)
})

test('one that JSON would change is kept as it will be read', () => {
  const odd = { ...text('x'), extra: new Map([[1, 2]]), big: 7n }
  const { chunk, bytes } = boundChunk(odd, MAX)
  expect(chunk).toEqual({ ...text('x'), extra: {}, big: '7' })
  expect(bytes).toBe(JSON.stringify(chunk).length)
})

test('one that cannot be inspected is kept without its fields', () => {
  const broken = Object.defineProperty(text('x'), 'delta', {
    enumerable: true,
    get: () => {
      throw new Error('not for you')
    },
  })
  const { delta: _, ...fields } = { ...text('x'), delta: '' }
  const truncated = ['type', 'delta', 'agentId', 'agentType', 'timestamp']
  expect(boundChunk(broken, MAX).chunk).toEqual({ ...fields, truncated })
})
