// What a sub-agent of a sub-agent has used counts for everyone above it, also after an interruption.
import {
  createSubAgentTool,
  defineAgent,
  type MockStep,
  type StepResult,
  type Tool,
} from '@helix-agents/core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { add, calls, createHarness } from './harness.ts'

const usage = { inputTokens: 60, outputTokens: 40 }
const named = (name: string, tool: Tool) =>
  defineAgent({
    name,
    llmConfig: { model: 'm' },
    tools: [tool],
    outputSchema: z.object({}),
    budget: {},
  })
const leaf = named('leaf', add)
const middle = named('middle', createSubAgentTool(leaf, z.object({})))
const root = named('root', createSubAgentTool(middle, z.object({})))

const step = (result: StepResult): StepResult => ({ ...result, usage })
const finish = step(calls(['__finish__', {}]))

test('a resumed run counts what all below it had used', async () => {
  const held: { interrupt?: () => Promise<void> } = {}
  const last: MockStep = async () => {
    await held.interrupt?.()
    return step(calls(['add', { a: 1, b: 2 }]))
  }
  const first = createHarness([
    step(calls(['subagent__middle'])),
    step(calls(['subagent__leaf'])),
    last,
  ])
  const handle = await first.executor.execute(root, 'Go.', { sessionId: 's' })
  held.interrupt = () => handle.interrupt()
  expect((await handle.result()).status).toBe('interrupted')
  const second = first.next([finish, finish, finish])
  const resumed = await second.executor.resume(root, 's')
  expect(await resumed.result()).toMatchObject({
    status: 'completed',
    usage: { totalTokens: 600, modelCalls: 6 },
  })
})
