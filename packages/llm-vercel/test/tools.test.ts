import { defineTool, type JsonSchema } from '@helix-agents/core'
import type { ToolSpec } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { toObjectSchema } from '../src/tools/object-schema.ts'
import { ToolMaker } from '../src/tools/tool-maker.ts'
import { problemOfTools } from './wire/schema-rules.ts'

const tool = (inputSchema: z.ZodType | JsonSchema): ToolSpec =>
  defineTool({ name: 'tool', description: 'A tool.', inputSchema, execute: async () => 'ok' })

const schemas: Readonly<Record<string, z.ZodType | JsonSchema>> = {
  'an object': z.object({ a: z.string(), b: z.number().int().optional() }),
  'nothing at all': z.object({}),
  'a union of objects': z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
  'a tagged union': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), size: z.number() }),
    z.object({ kind: z.literal('b'), size: z.string(), more: z.boolean() }),
  ]),
  'an intersection': z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  'a tuple': z.object({ pair: z.tuple([z.string(), z.number()]) }),
  'a record': z.object({ tags: z.record(z.string().min(1), z.number()) }),
  'a list of anything': z.object({ list: z.array(z.any()) }),
  recursion: z.object({
    get children() {
      return z.array(z.object({ name: z.string() }))
    },
  }),
  'JSON Schema without a type': { properties: { a: { type: 'array' } }, required: ['a'] },
  'a tuple of 2020-12': {
    type: 'object',
    properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }] } },
  },
}

describe('tool schemas', () => {
  test.each(Object.entries(schemas))('%s is one that providers take', (_, schema) => {
    const [made] = new ToolMaker().make([tool(schema)])
    const parameters = made?.inputSchema
    expect(problemOfTools([{ name: 'tool', parameters }])).toBeUndefined()
  })

  test('a union keeps the fields of all, and needs those that all need', () => {
    const union = toObjectSchema(tool(schemas['a tagged union']!).parameters)
    expect(union).toMatchObject({
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
        size: { anyOf: [{ type: 'number' }, { type: 'string' }] },
        more: { type: 'boolean' },
      },
      required: ['kind', 'size'],
    })
  })

  test('an intersection needs what any part needs', () => {
    const both = toObjectSchema(tool(schemas['an intersection']!).parameters)
    expect(both).toMatchObject({ required: ['a', 'b'] })
  })

  test('a schema that is fine stays as it is', () => {
    const { parameters } = tool(schemas['an object']!)
    expect(toObjectSchema(parameters)).toEqual(parameters)
  })

  test('any nesting of unions is one object', () => {
    const leaf = fc.constantFrom<JsonSchema>(
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'array', items: [{ type: 'null' }] } } },
    )
    const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
      schema: fc.oneof(
        leaf,
        fc
          .tuple(
            fc.constantFrom('anyOf', 'oneOf', 'allOf'),
            fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          )
          .map(([key, parts]) => ({ [key]: parts })),
      ),
    }))
    const isTaken = fc.property(schema, (given) => {
      const parameters = toObjectSchema(given)
      return problemOfTools([{ name: 'tool', parameters }]) === undefined
    })
    expect(fc.check(isTaken)).toMatchObject({ failed: false })
  })

  test('each schema is compiled once', () => {
    const specs = Object.freeze([tool(z.object({})), tool(z.object({ a: z.string() }))])
    const maker = new ToolMaker()
    const first = maker.make(specs)
    expect(maker.make(specs)).toBe(first)
    maker.make([...specs])
    expect(maker.conversionCount).toBe(2)
  })
})
