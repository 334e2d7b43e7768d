import { expect, test } from 'vitest'
import * as z from 'zod'
import { parseWithSchema } from '../../src/tools/schema-parse.ts'
import type { Schema } from '../../src/tools/schema.ts'
import { isSchema, toJsonSchema, toSchema } from '../../src/tools/to-json-schema.ts'

const validate = (): { value: unknown } => ({ value: 1 })

const input = ({ target }: { target: string }) => ({ $schema: target, type: 'object' })

test('a zod schema is described by what it accepts, without a dialect line', () => {
  const schema = z.strictObject({
    path: z.string().describe('A path.'),
    limit: z.number().int().default(5),
  })
  expect(toJsonSchema(schema)).toMatchObject({
    type: 'object',
    properties: { path: { type: 'string', description: 'A path.' }, limit: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  })
  expect(toJsonSchema(schema)).not.toHaveProperty('$schema')
})

test('a schema of another library writes itself', () => {
  const other = { '~standard': { version: 1, vendor: 'other', validate, jsonSchema: { input } } }
  expect(toJsonSchema(other as unknown as Schema)).toEqual({ type: 'object' })
})

test('a schema that is a function counts as a schema', () => {
  const callable = Object.assign(() => {}, { '~standard': { version: 1, vendor: 'f', validate } })
  expect(isSchema(callable)).toBe(true)
  expect([null, 5, {}, { type: 'object' }].map(isSchema)).toEqual([false, false, false, false])
})

test('one that cannot be written is a mistake of the definition', () => {
  const mute: Schema = { '~standard': { version: 1, vendor: 'mute', validate } }
  expect(() => toJsonSchema(mute)).toThrow(expect.objectContaining({ code: 'definition-invalid' }))
  expect(() => toJsonSchema(z.object({ when: z.date() }))).toThrow(
    expect.objectContaining({ code: 'definition-invalid' }),
  )
})

test('plain JSON Schema is passed on as it is, and validates', () => {
  const plain = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  expect(toJsonSchema(plain)).toBe(plain)
  expect(parseWithSchema(toSchema(plain), { city: 'Bern' })).toEqual({ city: 'Bern' })
  expect(() => parseWithSchema(toSchema(plain), { city: 5 })).toThrow(
    expect.objectContaining({
      code: 'invalid-input',
      issues: [expect.objectContaining({ path: 'city' })],
    }),
  )
  expect(() => toSchema({ type: 'banana' })).toThrow(
    expect.objectContaining({ code: 'definition-invalid' }),
  )
})
