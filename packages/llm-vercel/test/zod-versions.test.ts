// Tools of consumers who have not moved to zod 4. `zod/v3` is zod 3 as it was.
import { defineAgent, defineTool, type Schema } from '@helix-agents/core'
import { toJsonSchema } from '@helix-agents/core/runtime'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z3 from 'zod/v3'
import * as z4 from 'zod/v4'

const inputOf3 = z3.object({ city: z3.string().min(2) })
const inputOf4 = z4.object({ city: z4.string().min(2) })

function defineWith3() {
  return defineTool({ name: 'w', description: 'd', inputSchema: inputOf3, execute: async () => '' })
}

describe('a schema of zod 3', () => {
  test('fits the types: it validates as any Standard Schema', async () => {
    expectTypeOf(inputOf3).toExtend<Schema>()
    const outcome = await inputOf3['~standard'].validate({ city: 'x' })
    expect(outcome.issues).toHaveLength(1)
  })

  test('cannot describe itself: the definition fails, and says what to do', () => {
    expect(defineWith3).toThrow(expect.objectContaining({ code: 'definition-invalid' }))
    expect(defineWith3).toThrow(/zod\/v4/)
  })

  test('works with the JSON Schema of another library beside it', () => {
    const described: Schema = {
      '~standard': {
        ...inputOf3['~standard'],
        jsonSchema: { input: () => ({ type: 'object', properties: { city: { type: 'string' } } }) },
      } as Schema['~standard'],
    }
    expect(toJsonSchema(described)).toEqual({
      type: 'object',
      properties: { city: { type: 'string' } },
    })
  })
})

test('a schema of `zod/v4`, as zod 3.25 has it, describes, types and checks a tool', async () => {
  const seen: string[] = []
  const tool = defineTool({
    name: 'weather',
    description: 'Tells the weather.',
    inputSchema: inputOf4,
    execute: async ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>()
      seen.push(city)
      return 'sunny'
    },
  })
  const offered: unknown[] = []
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  }
  const turns = ['{"city":"B"}', '{"city":"Bern"}', undefined]
  const model = new MockLanguageModelV4({
    doStream: async ({ tools }) => {
      offered.push(tools)
      const input = turns.shift()
      const stop = { type: 'finish', usage } as const
      const stream =
        input === undefined
          ? convertArrayToReadableStream([
              { type: 'text-start' as const, id: '0' },
              { type: 'text-delta' as const, id: '0', delta: 'Sunny.' },
              { type: 'text-end' as const, id: '0' },
              { ...stop, finishReason: { unified: 'stop' as const, raw: undefined } },
            ])
          : convertArrayToReadableStream([
              { type: 'tool-call' as const, toolCallId: input, toolName: 'weather', input },
              { ...stop, finishReason: { unified: 'tool-calls' as const, raw: undefined } },
            ])
      return { stream }
    },
  })
  const agent = defineAgent({ name: 'a', llmConfig: { model }, tools: [tool] })
  const store = new InMemoryStateStore()
  const adapter = new VercelAIAdapter()
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), adapter)
  const result = await (await executor.execute(agent, 'Bern?')).result()
  expect([result.status, seen]).toEqual(['completed', ['Bern']])
  expect(offered[0]).toMatchObject([
    { inputSchema: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } } },
  ])
})
