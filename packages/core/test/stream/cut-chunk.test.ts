import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutChunk } from '@helix-agents/core/runtime'

const BASE = { type: 'tool_end', agentId: 'r', agentType: 'a', timestamp: 1, toolCallId: 'c' }
const LIMIT = 4096

function cut(chunk: object): Record<string, unknown> {
  const json = cutChunk(JSON.stringify(chunk), LIMIT)
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(LIMIT)
  return JSON.parse(json)
}

test('only as many fields are cut as must be, the biggest first', () => {
  const chunk = { ...BASE, result: 'x'.repeat(5000), note: 'y'.repeat(3000) }
  expect(cut(chunk)).toEqual({ ...chunk, result: 'x'.repeat(32), truncated: ['result'] })
  const both = cut({ ...chunk, note: 'y'.repeat(4500) })
  expect(both['truncated']).toEqual(['result', 'note'])
})

test('a value of any type becomes the beginning of its JSON', () => {
  const { result } = cut({ ...BASE, result: { list: Array.from({ length: 5000 }, () => 1) } })
  expect(result).toBe('{"list":[1,1,1,1,1,1,1,1,1,1,1,1')
})

test('fields keep their type', () => {
  const patches = [{ op: 'add', path: '/a', value: 'x'.repeat(5000) }]
  expect(cut({ ...BASE, patches })).toMatchObject({ patches: [], truncated: ['patches'] })
  const error = { code: 'internal', message: 'm'.repeat(5000) }
  expect(cut({ ...BASE, error })).toMatchObject({
    error: { code: 'internal', message: 'm'.repeat(16) },
  })
})

test('a chunk that was cut before stays marked', () => {
  const chunk = { ...BASE, result: 'x', data: 'y'.repeat(5000), truncated: ['result'] }
  expect(cut(chunk)['truncated']).toEqual(['result', 'data'])
})

test('no character is cut in two', () => {
  const { delta } = cut({ ...BASE, delta: `x${'\u{1F600}'.repeat(3000)}` })
  expect(delta).toBe(`x${'\u{1F600}'.repeat(15)}`)
})

test('whatever the fields hold, the chunk fits and is told apart', () => {
  const large = fc.string({ minLength: 4000, maxLength: 9000, unit: 'binary' })
  const controls = fc.string({ minLength: 4000, maxLength: 9000, unit: fc.constant('\u0001') })
  const value = fc.oneof(large, controls, fc.array(fc.string()), fc.string())
  fc.assert(
    fc.property(value, value, value, controls, (result, text, agentId, toolName) => {
      const whole = cut({ ...BASE, result, text, agentId, toolName })
      expect(whole).toMatchObject({ type: 'tool_end', timestamp: 1, toolCallId: 'c' })
      expect(whole['truncated']).toContain('toolName')
    }),
    { numRuns: 50 },
  )
})
