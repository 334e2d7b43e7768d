import { createSubAgentTool, defineAgent, defineTool, type ToolContext } from '@helix-agents/core'
import { isSubAgentTool, subAgentOf } from '@helix-agents/core/runtime'
import { SUBAGENT_TOOL_PREFIX } from '../../src/agent/sub-agent-tool.ts'
import { expect, test } from 'vitest'
import * as z from 'zod'

const agent = defineAgent({
  name: 'child',
  description: 'Thinks.',
  llmConfig: { model: {} },
  outputSchema: z.object({ answer: z.string() }),
})

test('is data that a runtime recognises', () => {
  const tool = createSubAgentTool(agent, z.object({ task: z.string() }), {
    inheritWorkspaces: true,
    timeoutMs: 5,
  })
  expect(tool).toMatchObject({
    name: `${SUBAGENT_TOOL_PREFIX}child`,
    description: 'Thinks.',
    timeoutMs: 5,
  })
  expect(isSubAgentTool(tool.name)).toBe(true)
  expect(subAgentOf(tool)).toEqual({ agent, inheritWorkspaces: true })
  expect(Object.isFrozen(tool)).toBe(true)
})

test('is isolated unless the call site says otherwise', () => {
  const tool = createSubAgentTool(agent, z.object({}), { description: 'Ask it.' })
  expect(tool.subAgent.inheritWorkspaces).toBe(false)
  expect(tool.description).toBe('Ask it.')
})

test('needs a runtime', async () => {
  const tool = createSubAgentTool(agent, z.object({}))
  await expect(tool.execute({}, {} as ToolContext)).rejects.toMatchObject({ code: 'tool-failed' })
  const other = defineTool({ name: 'x', description: '', inputSchema: {}, execute: () => 1 })
  expect(subAgentOf(other)).toBeUndefined()
})
