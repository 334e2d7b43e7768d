import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Schema } from '../../src/tools/schema.ts'
import { parseWithSchema } from '../../src/tools/schema-parse.ts'

const schema = z.strictObject({
  path: z.string(),
  opts: z.strictObject({ limit: z.number() }).optional(),
  edits: z.array(z.strictObject({ oldText: z.string() })).optional(),
})

function errorOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

test('a value that fits comes back parsed, at once', () => {
  expect(parseWithSchema(schema, { path: '/a' })).toEqual({ path: '/a' })
  expect(parseWithSchema(z.coerce.number(), '5')).toBe(5)
})

test('every failing field is named', () => {
  const input = { path: 1, opts: { limit: 'x' }, edits: [{ oldText: 'a' }, {}], extra: true }
  expect(errorOf(() => parseWithSchema(schema, input))).toMatchObject({
    name: 'ToolInputError',
    code: 'invalid-input',
    issues: [
      { path: 'path' },
      { path: 'opts.limit' },
      { path: 'edits.1.oldText' },
      { path: '', message: expect.stringContaining('extra') },
    ],
  })
})

test.each([[null], [undefined], ['text'], [5], [[]]])('%j for arguments is refused', (input) => {
  expect(errorOf(() => parseWithSchema(schema, input))).toMatchObject({ code: 'invalid-input' })
})

test('a prototype key is an unknown field', () => {
  const input: unknown = JSON.parse('{"path":"/a","__proto__":{"x":1}}')
  expect(errorOf(() => parseWithSchema(schema, input))).toMatchObject({ code: 'invalid-input' })
})

test('a schema with asynchronous checks is awaited', async () => {
  const asynchronous = z.object({ name: z.string().refine(async (name) => name === 'a') })
  await expect(parseWithSchema(asynchronous, { name: 'a' })).resolves.toEqual({ name: 'a' })
  await expect(parseWithSchema(asynchronous, { name: 'b' })).rejects.toMatchObject({
    code: 'invalid-input',
    issues: [{ path: 'name' }],
  })
})

test('issues of other libraries may have keys in objects, or no path', () => {
  const other: Schema = {
    '~standard': {
      version: 1,
      vendor: 'other',
      validate: () => ({
        issues: [
          { message: 'x'.repeat(1000), path: [{ key: 'a' }, 0, { key: 'b' }] },
          { message: 'whole' },
          ...Array.from({ length: 100 }, () => ({ message: 'more' })),
        ],
      }),
    },
  }
  const error = errorOf(() => parseWithSchema(other, {}))
  expect(error).toMatchObject({ issues: { 0: { path: 'a.0.b' }, 1: { path: '' }, length: 20 } })
  expect(JSON.stringify(error).length).toBeLessThan(5000)
})
