import type { Clock, LLMAdapter, Logger } from '@helix-agents/core'
import type {
  RateLimitedLogger,
  SessionStateStore,
  StreamManager,
  Tracer,
  WorkspaceLifecycleListener,
  WorkspaceMetrics,
} from '@helix-agents/core/runtime'
import type { ActiveRun, ActiveRuns } from './run/active-runs.ts'
import type { WorkspaceProviders, WorkspaceRegistryTuning } from './executor/executor-options.ts'
import type { LaunchRequest } from './run/launch-request.ts'
import type { ToolSets } from './call/tool-sets.ts'

/** What all runs of one executor share. */
export interface RunServices {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
  readonly providers: WorkspaceProviders
  readonly registryTuning: WorkspaceRegistryTuning & { readonly maxConcurrentOpens?: number }
  readonly openEagerly: boolean
  readonly logger: Logger
  /** For what a model may cause over and over. */
  readonly rateLimitedLogger: RateLimitedLogger
  readonly metrics: WorkspaceMetrics
  readonly lifecycle: WorkspaceLifecycleListener | undefined
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly leaseMs: number
  readonly active: ActiveRuns
  readonly toolSets: ToolSets
  /** Starts a run: here, so that sub-agents reach it. */
  readonly launch: (request: LaunchRequest) => Promise<ActiveRun>
}
