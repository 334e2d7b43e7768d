import type { Agent, LLMAdapter } from '@helix-agents/core'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'

/** What an executor is made of. */
export interface ExecutorParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
}

/** Parts in the wrong order, or none, are found before a run is. @throws {TypeError} */
export function assertParts({ stateStore, streamManager, llmAdapter }: ExecutorParts): void {
  assertHas(stateStore, 'loadSession', 'first', 'a state store such as new InMemoryStateStore()')
  assertHas(streamManager, 'read', 'second', 'a stream manager such as new InMemoryStreamManager()')
  const adapter =
    'a model adapter such as new VercelAIAdapter(); models stand in llmConfig of agents'
  assertHas(llmAdapter, 'generateStep', 'third', adapter)
}

/** @throws {TypeError} for what `defineAgent` has not made. */
export function assertAgent(agent: Agent): void {
  const value: unknown = agent
  const isAgent =
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'tools' in value &&
    Array.isArray(value.tools) &&
    'workspaces' in value
  if (!isAgent) throw new TypeError('the first argument must be an agent that defineAgent has made')
}

function assertHas(part: unknown, method: string, position: string, wanted: string): void {
  const isObject = typeof part === 'object' && part !== null
  if (isObject && typeof Reflect.get(part, method) === 'function') return
  throw new TypeError(`JSAgentExecutor: the ${position} argument must be ${wanted}`)
}
