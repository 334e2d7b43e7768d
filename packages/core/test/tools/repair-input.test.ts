import { expect, test } from 'vitest'
import * as z from 'zod'
import { repairInput } from '../../src/tools/input/repair-input.ts'
import { toJsonSchema } from '../../src/tools/to-json-schema.ts'

const parameters = toJsonSchema(
  z.strictObject({
    path: z.string(),
    offset: z.int().exactOptional(),
    ratio: z.number().exactOptional(),
    all: z.boolean().exactOptional(),
    note: z.string().nullable().exactOptional(),
    tags: z.array(z.string()).exactOptional(),
    opts: z.strictObject({ limit: z.int().exactOptional() }).exactOptional(),
    edits: z.array(z.strictObject({ line: z.int() })).exactOptional(),
  }),
)
const repaired = (input: unknown): unknown => repairInput(input, parameters)

test('a null where a field may be left out is left out', () => {
  expect(repaired({ path: 'a', offset: null, opts: { limit: null } })).toEqual({
    path: 'a',
    opts: {},
  })
  expect(repaired({ path: null, note: null })).toEqual({ path: null, note: null })
})

test('numbers and booleans in quotes', () => {
  const input = { path: '12', offset: '-3', ratio: '0.5', all: 'true', edits: [{ line: '7' }] }
  expect(repaired(input)).toEqual({
    path: '12',
    offset: -3,
    ratio: 0.5,
    all: true,
    edits: [{ line: 7 }],
  })
  const unclear = { path: 'a', offset: '1.5', ratio: 'x', all: 'yes' }
  expect(repaired(unclear)).toEqual(unclear)
})

test('objects and lists as JSON text, and no text at all', () => {
  expect(repaired('{"path":"a","offset":"2"}')).toEqual({ path: 'a', offset: 2 })
  expect(repaired({ path: '{}', opts: '{"limit":1}', tags: '["a"]' })).toEqual({
    path: '{}',
    opts: { limit: 1 },
    tags: ['a'],
  })
  expect(repaired(' ')).toEqual({})
  expect(repaired('not json')).toBe('not json')
  expect(repaired('[1]')).toBe('[1]')
  expect(repaired(null)).toEqual({})
})

test('what it does not know stays, prototype keys included', () => {
  const input = JSON.parse('{"path":"a","x":null,"__proto__":{"y":1}}') as object
  const output = repaired(input) as object
  expect(Object.keys(output)).toEqual(['path', 'x', '__proto__'])
  expect(Object.getPrototypeOf(output)).toBe(Object.prototype)
  expect(repairInput({ a: '1' }, { type: 'object' })).toEqual({ a: '1' })
  expect(repairInput('5', {})).toBe('5')
})
