// A scripted executor on memory parts, with every span and every metric of the real SDKs kept.
import {
  type Agent,
  type LLMAdapter,
  MockLLMAdapter,
  type MockStep,
  type StepResult,
} from '@helix-agents/core'
import { JSAgentExecutor, type JSAgentExecutorOptions } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

export interface ExecutorOptions extends JSAgentExecutorOptions {
  readonly adapter?: LLMAdapter
}

export function createExecutor(
  steps: readonly MockStep[],
  { adapter = new MockLLMAdapter(steps), ...options }: ExecutorOptions = {},
): JSAgentExecutor {
  return new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), adapter, {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
    ...options,
  })
}

export async function runToEnd(executor: JSAgentExecutor, agent: Agent, sessionId = 'session-1') {
  const handle = await executor.execute(agent, 'SECRET-question', { sessionId })
  return handle.result()
}

/** A step with tool calls: `[name, arguments]`; their ids are `a`, `b`, … */
export function calls(...list: readonly (readonly [name: string, args?: unknown])[]): StepResult {
  const toolCalls = list.map(([name, args], index) => ({
    id: String.fromCodePoint(97 + index),
    name,
    arguments: args ?? {},
  }))
  return { type: 'tool_calls', toolCalls }
}

export function say(content: string): StepResult {
  return { type: 'text', content, shouldStop: true }
}

export const boxes = {
  box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
}
