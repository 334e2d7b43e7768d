import type { Clock, LLMAdapter } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import type {
  AgentExecutor,
  ExecutorScenario,
  ExecutorSubject,
} from '@helix-agents/workspace-conformance/executor'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

const START_MS = 1_700_000_000_000
const LATER_MS = 3_600_000

/** What one process of a scenario is made of; saboteurs replace a part. */
export interface ProcessParts {
  readonly store: SessionStateStore
  readonly streams: StreamManager
  readonly model: LLMAdapter
  readonly clock: Clock
  readonly provider: WorkspaceProvider
}

export type Sabotage = (parts: ProcessParts) => AgentExecutor

export function createExecutor(parts: ProcessParts): JSAgentExecutor {
  const { store, streams, model, clock, provider } = parts
  const workspaceProviders = new Map([['in-memory', provider]])
  return new JSAgentExecutor(store, streams, model, { workspaceProviders, clock })
}

/** Each process has a clock of its own, so that a dead one never renews its claim. */
export function createSubject(create: Sabotage = createExecutor): ExecutorSubject {
  return {
    workspace: { kind: 'in-memory' },
    createExecutor: async (model): Promise<ExecutorScenario> => {
      const store = new InMemoryStateStore()
      const streams = new InMemoryStreamManager()
      const processAt = (clock: ManualClock): AgentExecutor =>
        create({ store, streams, model, clock, provider: new InMemoryWorkspaceProvider() })
      const clock = new ManualClock(START_MS)
      return {
        executor: processAt(clock),
        store,
        passTime: (ms) => clock.advance(ms),
        another: async () => processAt(new ManualClock(START_MS)),
        restart: async () => processAt(new ManualClock(START_MS + LATER_MS)),
      }
    },
  }
}
