// How schemas are written for providers: word for word.
import type { JsonSchema } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { toObjectSchema } from '../../src/tools/object-schema.ts'
import { toPortableSchema } from '../../src/tools/portable-schema.ts'
import { toResponseFormat } from '../../src/tools/response-format.ts'

const string = { type: 'string' }
const number = { type: 'number' }

describe('a portable schema', () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    ['anything', {}, {}],
    ['a list of anything', { type: 'array' }, { type: 'array', items: {} }],
    ['a list', { type: 'array', items: string }, { type: 'array', items: string }],
    [
      'a tuple of 2020-12',
      { type: 'array', prefixItems: [string, number], items: false },
      { type: 'array', items: { anyOf: [string, number] }, minItems: 2, maxItems: 2 },
    ],
    [
      'a tuple of draft 7',
      { type: 'array', items: [string, string], additionalItems: number },
      { type: 'array', items: string, minItems: 2, maxItems: 2 },
    ],
    [
      'a tuple with a length of its own',
      { type: 'array', prefixItems: [string, number], minItems: 1, maxItems: 5 },
      { type: 'array', items: { anyOf: [string, number] }, minItems: 1, maxItems: 5 },
    ],
    [
      'an empty tuple',
      { type: 'array', prefixItems: [] },
      { type: 'array', items: {}, minItems: 0, maxItems: 0 },
    ],
    [
      'rules for names',
      { type: 'object', propertyNames: string, additionalProperties: { type: 'array' } },
      { type: 'object', additionalProperties: { type: 'array', items: {} } },
    ],
    [
      'a closed object',
      { type: 'object', additionalProperties: false },
      { type: 'object', additionalProperties: false },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toPortableSchema(schema)).toStrictEqual(expected)
  })

  const list = { type: 'array' }
  const open = { type: 'array', items: {} }

  test.each(['items', 'additionalProperties', 'not'])('below %s', (key) => {
    expect(toPortableSchema({ [key]: list })).toStrictEqual({ [key]: open })
    expect(toPortableSchema({ [key]: true })).toStrictEqual({ [key]: true })
  })

  test.each(['anyOf', 'oneOf', 'allOf'])('below %s', (key) => {
    expect(toPortableSchema({ [key]: [list, true] })).toStrictEqual({ [key]: [open, true] })
    expect(toPortableSchema({ [key]: 'x' })).toStrictEqual({ [key]: 'x' })
  })

  test.each(['properties', '$defs', 'definitions', 'patternProperties'])('below %s', (key) => {
    const named = { [key]: { a: list, b: true } }
    expect(toPortableSchema(named)).toStrictEqual({ [key]: { a: open, b: true } })
    expect(toPortableSchema({ [key]: [list] })).toStrictEqual({ [key]: [list] })
  })
})

const a = { type: 'object', properties: { a: string }, required: ['a'] }
const b = { type: 'object', properties: { b: number }, required: ['b'] }

describe('an object schema', () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    ['an object', a, a],
    ['nothing', {}, { properties: {}, type: 'object' }],
    ['fields alone', { properties: { a: string } }, { properties: { a: string }, type: 'object' }],
    [
      'a union',
      { anyOf: [a, b] },
      { type: 'object', properties: { a: string, b: number }, required: [] },
    ],
    [
      'a union of which all need a field',
      { oneOf: [a, { ...b, required: ['b', 'a'] }, { ...a, required: ['a', 'c'] }] },
      { type: 'object', properties: { a: string, b: number }, required: ['a'] },
    ],
    [
      'a union with fields of its own',
      {
        anyOf: [b],
        title: 'T',
        properties: { own: string },
        required: ['own', 'b'],
      },
      {
        title: 'T',
        type: 'object',
        properties: { own: string, b: number },
        required: ['own', 'b'],
      },
    ],
    [
      'an intersection',
      { allOf: [a, b, { properties: { a: number }, required: ['a'] }] },
      { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    ],
    [
      'a field of several meanings',
      {
        anyOf: [
          { properties: { x: string } },
          { properties: { x: string } },
          { properties: { x: number } },
          { properties: { x: { type: 'null' } } },
        ],
      },
      {
        type: 'object',
        properties: { x: { anyOf: [string, number, { type: 'null' }] } },
        required: [],
      },
    ],
    [
      'a field that is a union with a word of its own',
      {
        anyOf: [
          { properties: { x: { anyOf: [string], title: 'T' } } },
          { properties: { x: number } },
        ],
      },
      {
        type: 'object',
        properties: { x: { anyOf: [{ anyOf: [string], title: 'T' }, number] } },
        required: [],
      },
    ],
    ['an empty union', { anyOf: [] }, { type: 'object', properties: {}, required: [] }],
    [
      'what is no schema',
      { anyOf: [true, a], required: [1, 'z'], properties: [] },
      { type: 'object', properties: { a: string }, required: ['z', 'a'] },
    ],
  ])('%s', (_, schema, expected) => {
    expect(toObjectSchema(schema)).toStrictEqual(expected)
  })
})

test('the form of an answer is written once', () => {
  const schema = { type: 'object', properties: {} }
  const format = toResponseFormat(schema)
  expect(format).toEqual({ type: 'json', name: 'output', schema })
  expect(toResponseFormat(schema)).toBe(format)
})
