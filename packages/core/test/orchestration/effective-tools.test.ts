import { defineAgent, defineTool } from '@helix-agents/core'
import { buildEffectiveTools, initializeAgentState, toJsonValue } from '@helix-agents/core/runtime'
import { FINISH_TOOL_NAME } from '../../src/orchestration/effective-tools.ts'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

const llmConfig = { model: {} }
const tool = defineTool({
  name: 't',
  description: 'd',
  inputSchema: z.object({}),
  execute: () => 1,
})

describe('buildEffectiveTools', () => {
  test('joins the tools of the agent, of its workspaces, and __finish__', () => {
    const outputSchema = z.object({ title: z.string() })
    const agent = defineAgent({ name: 'a', llmConfig, tools: [tool], outputSchema })
    const injected = { ...tool, name: 'workspace__box__ls' }
    const { byName, specs } = buildEffectiveTools(agent, [injected])
    expect([...byName.keys()]).toEqual(['t', 'workspace__box__ls', FINISH_TOOL_NAME])
    expect(specs[0]).toEqual({ name: 't', description: 'd', parameters: tool.parameters })
    expect(specs[2]!.parameters).toMatchObject({ required: ['title'] })
  })

  test('without an output schema there is no __finish__', () => {
    const agent = defineAgent({ name: 'a', llmConfig, tools: [tool] })
    expect([...buildEffectiveTools(agent).byName.keys()]).toEqual(['t'])
  })

  test('an output that is no object travels in a field', async () => {
    const agent = defineAgent({ name: 'a', llmConfig, outputSchema: z.array(z.number()) })
    const finish = buildEffectiveTools(agent).byName.get(FINISH_TOOL_NAME)!
    expect(finish.parameters).toMatchObject({ type: 'object', required: ['result'] })
    expect(await finish.parse({ result: [1] })).toEqual([1])
    expect(await finish.parse([1])).toEqual([1])
    expect(() => finish.parse({ result: ['x'] })).toThrow(
      expect.objectContaining({ code: 'invalid-input' }),
    )
  })
})

describe('initializeAgentState', () => {
  const stateSchema = z.object({ n: z.number().default(0), name: z.string().optional() })
  const agent = defineAgent({ name: 'a', llmConfig, stateSchema })

  test('takes the defaults of the schema and what the caller gives', async () => {
    expect(await initializeAgentState(agent)).toEqual({ n: 0 })
    expect(await initializeAgentState(agent, { name: 'x' })).toEqual({ n: 0, name: 'x' })
  })

  test('refuses what the schema does not accept, and what is not JSON', async () => {
    const code = { code: 'definition-invalid' }
    await expect(initializeAgentState(agent, { n: 'x' })).rejects.toMatchObject(code)
    const dated = defineAgent({
      name: 'a',
      llmConfig,
      stateSchema: z.object({ at: z.date().default(() => new Date()) }),
    })
    await expect(initializeAgentState(dated)).rejects.toMatchObject(code)
  })

  test('without a schema it is what the caller gives', async () => {
    const free = defineAgent({ name: 'a', llmConfig })
    expect(await initializeAgentState(free)).toBeUndefined()
    expect(await initializeAgentState(free, { a: [1] })).toEqual({ a: [1] })
  })
})

test.each([[new Date()], [new Map()], [Number.NaN], [undefined], [() => 1], [[new Uint8Array(1)]]])(
  '%s is not JSON',
  (value) => {
    expect(toJsonValue(value)).toBeUndefined()
  },
)
