import {
  defineTool,
  type Schema,
  type Tool,
  type ToolContext,
  ToolFailedError,
} from '@helix-agents/core'
import { toToolError } from '@helix-agents/core/runtime'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'

const context = {} as ToolContext

function toolThat(execute: () => unknown): Tool {
  return defineTool({ name: 't', description: 'd', inputSchema: z.object({}), execute })
}

describe('input', () => {
  test('is typed and checked by a Standard Schema', async () => {
    const tool = defineTool({
      name: 'add',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>()
        return input.a + input.b
      },
    })
    expect(await tool.execute(await tool.parse({ a: 2 }), context)).toBe(3)
    expect(tool.parameters).toMatchObject({ type: 'object', required: ['a'] })
    expect(() => tool.parse({ a: 'two' })).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        issues: [expect.objectContaining({ path: 'a' })],
      }),
    )
  })

  test('may be plain JSON Schema', () => {
    const inputSchema = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
    } as const
    const tool = defineTool({ name: 't', description: '', inputSchema, execute: (input) => input })
    expect(tool.parameters).toEqual(inputSchema)
    expect(tool.parse({ n: 1 })).toEqual({ n: 1 })
    expect(() => tool.parse({})).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })

  test('that a model leaves out counts as an empty object', () => {
    const tool = toolThat(() => 1)
    expect(tool.parse(undefined)).toEqual({})
    expect(() => tool.parse('text')).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })

  test('may be validated asynchronously by any library that follows the standard', async () => {
    const json: Schema<number> & { '~standard': object } = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value) => Promise.resolve({ value: Number(value) }),
        jsonSchema: { input: () => ({ type: 'object' }) },
      } as Schema<number>['~standard'],
    }
    const tool = defineTool({
      name: 't',
      description: '',
      inputSchema: json,
      execute: (n) => n + 1,
    })
    expect(await tool.execute(await tool.parse('41'), context)).toBe(42)
  })
})

describe('annotations', () => {
  test('are cautious unless the tool says otherwise', () => {
    expect(toolThat(() => 1).annotations).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: false,
    })
    const reader = defineTool({
      name: 't',
      description: '',
      inputSchema: z.object({}),
      annotations: { readOnly: true },
      execute: () => 1,
    })
    expect(reader.annotations).toEqual({ readOnly: true, destructive: false, idempotent: true })
  })
})

describe('output', () => {
  test.each([
    ['text', 'text'],
    [{ a: 1 }, '{"a":1}'],
    [undefined, '(no result)'],
    [null, 'null'],
  ])('%j reads as %j', (output, text) => {
    expect(toolThat(() => output).toModelOutput(output)).toBe(text)
  })

  test('that is no JSON does not turn a call that succeeded into an error', () => {
    const tool = toolThat(() => 1)
    const circular: { self?: unknown } = {}
    circular.self = circular
    expect(tool.toModelOutput({ id: 2n ** 64n })).toBe('{"id":"18446744073709551616"}')
    expect(tool.toModelOutput(circular)).toBe('(the call succeeded; its result cannot be shown)')
  })

  test('is checked where the tool says what it is', async () => {
    const tool = defineTool({
      name: 't',
      description: '',
      inputSchema: z.object({}),
      outputSchema: z.object({ n: z.number() }),
      execute: () => ({ n: 'many' as unknown as number }),
    })
    await expect(tool.execute({}, context)).rejects.toMatchObject({ code: 'tool-failed' })
  })
})

async function errorOf(thrown: unknown): Promise<unknown> {
  const tool = toolThat(() => {
    throw thrown
  })
  try {
    return await tool.execute({}, context)
  } catch (error) {
    return error
  }
}

describe('an error of the tool', () => {
  test('speaks to the model, in at most 1,000 characters', async () => {
    const cause = new Error('x'.repeat(5_000))
    const error = await errorOf(cause)
    expect(error).toMatchObject({ name: 'ToolFailedError', code: 'tool-failed', cause })
    expect(toToolError(error).message).toHaveLength(1_000)
  })

  test.each([
    ['of the platform', Object.assign(new Error('ENOENT /home/me'), { syscall: 'open' })],
    ['with a stack in its message', new Error('bad\n    at run (/home/me/app.ts:1:1)')],
    ['without a message', new Error('')],
    ['that is none', 'text'],
  ])('%s stays silent', async (_, cause) => {
    expect(toToolError(await errorOf(cause)).code).toBe('internal')
  })

  test('of the framework passes as it is', async () => {
    const error = new ToolFailedError('tool-timeout', 'late')
    expect(await errorOf(error)).toBe(error)
    const abort = new DOMException('stop', 'AbortError')
    expect(await errorOf(abort)).toBe(abort)
  })
})

describe('a definition that no model provider accepts', () => {
  const right = { name: 't', description: 'd', inputSchema: z.object({}), execute: () => 'done' }

  test.each([
    [{ name: '' }, 'the name must have'],
    [{ name: 'get weather' }, 'the name must have'],
    [{ name: 'wetter/ü' }, 'the name must have'],
    [{ name: 'x'.repeat(65) }, 'the name must have'],
    [{ name: undefined }, 'the name must have'],
    [{ description: undefined }, 'the description must be a text'],
    [{ inputSchema: undefined }, 'the inputSchema must be a Standard Schema'],
    [{ inputSchema: null }, 'the inputSchema must be a Standard Schema'],
    [{ inputSchema: 'string' }, 'the inputSchema must be a Standard Schema'],
    [{ execute: 'later' }, 'execute must be a function'],
    [{ needsApproval: 'yes' }, 'needsApproval must be'],
    [{ approvalTtlMs: 0 }, 'approvalTtlMs must be'],
  ])('%o', (wrong, sentence) => {
    const define = () => defineTool({ ...right, ...wrong } as never)
    expect(define).toThrow(sentence)
    expect(define).toThrow(expect.objectContaining({ code: 'definition-invalid' }))
  })

  test('all that is wrong is told at once', () => {
    expect(() => defineTool({ execute: 1 } as never)).toThrow(
      /without a name[^]*name must[^]*description[^]*inputSchema[^]*execute/,
    )
  })

  test.each(['a', '_a', '9', '-', 'x'.repeat(64)])('the name %s is taken', (name) => {
    expect(defineTool({ ...right, name }).name).toBe(name)
  })
})
