import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { hintOfMisplaced } from '../../src/tools/input/misplaced-fields.ts'
import { parseToolInput } from '../../src/tools/input/parse-tool-input.ts'
import { toJsonSchema } from '../../src/tools/to-json-schema.ts'

const schema = z.strictObject({
  command: z.string(),
  name: z.string().exactOptional(),
  opts: z
    .strictObject({
      timeoutMs: z.int().exactOptional(),
      cwd: z.string().exactOptional(),
      env: z.record(z.string(), z.string()).exactOptional(),
      deep: z.strictObject({ level: z.int().exactOptional() }).exactOptional(),
    })
    .exactOptional(),
  from: z.strictObject({ line: z.int().exactOptional() }).exactOptional(),
  to: z.strictObject({ line: z.int().exactOptional() }).exactOptional(),
})
const parameters = toJsonSchema(schema)
const hintOf = (input: unknown) => hintOfMisplaced(input, parameters)

test('a field of an object that stands beside it', () => {
  expect(hintOf({ command: 'ls', timeoutMs: 5 })).toBe('Give timeoutMs as opts.timeoutMs.')
  expect(hintOf({ command: 'ls', cwd: '/', opts: { timeoutMs: 5 } })).toBe('Give cwd as opts.cwd.')
  expect(hintOf({ level: 1, opts: {} })).toBe('Give level as opts.deep.level.')
  expect(hintOf({ cwd: '/', timeoutMs: 5 })).toBe(
    'Give cwd as opts.cwd, timeoutMs as opts.timeoutMs.',
  )
})

test('a field that is too deep', () => {
  expect(hintOf({ opts: { command: 'ls', deep: { cwd: '/' } } })).toBe(
    'Give opts.command as command, opts.deep.cwd as opts.cwd.',
  )
})

test('nothing is said of what is in place, unknown everywhere, or might be in two places', () => {
  for (const input of [
    { command: 'ls', opts: { timeoutMs: 5, env: { cwd: '/' } } },
    { command: 5 },
    { command: 'ls', surprise: true, __proto__x: 1 },
    { line: 3 },
    null,
    'text',
    [{ timeoutMs: 5 }],
    { constructor: 1, toString: 2 },
  ]) {
    expect(hintOf(input)).toBeUndefined()
  }
  expect(hintOfMisplaced({ timeoutMs: 5 }, {})).toBeUndefined()
  const open = toJsonSchema(z.looseObject({ opts: z.looseObject({ timeoutMs: z.int() }) }))
  expect(hintOfMisplaced({ timeoutMs: 5 }, open)).toBeUndefined()
})

test('the error of arguments that do not fit has the hint, also when the schema takes its time', async () => {
  const wrong = { command: 'ls', timeoutMs: '5' }
  const expected = { code: 'invalid-input', hint: 'Give timeoutMs as opts.timeoutMs.' }
  expect(() => parseToolInput(schema, wrong, () => parameters)).toThrow(
    expect.objectContaining(expected),
  )
  const standard = schema['~standard']
  const validate = async (value: unknown) => standard.validate(value)
  const slow = { '~standard': { ...standard, validate } }
  await expect(parseToolInput(slow, wrong, () => parameters)).rejects.toMatchObject({
    ...expected,
    issues: [{ path: '', message: expect.stringContaining('timeoutMs') }],
  })
  const other = parseToolInput(slow, { command: 1 }, () => parameters)
  await expect(other).rejects.toMatchObject({ code: 'invalid-input', hint: undefined })
})

test('whatever a model gives is looked through', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (input) => {
      const hint = hintOf(input)
      expect(hint === undefined || hint.length < 200).toBe(true)
    }),
  )
})
