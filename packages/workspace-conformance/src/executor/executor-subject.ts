import type { Agent, LLMAdapter, ProviderSelection } from '@helix-agents/core'
import type {
  SequencedChunk,
  SessionStateStore,
  StreamReaderOptions,
  WorkspaceDescription,
} from '@helix-agents/core/runtime'

/** How a run ended, as far as the contract goes. */
export interface RunEnding {
  readonly status: 'completed' | 'failed' | 'aborted' | 'interrupted' | 'waiting'
  readonly output?: unknown
  readonly error?: { readonly code: string } | undefined
}

/** One run, as its caller holds it. */
export interface RunHandle {
  readonly sessionId: string
  stream(
    options?: StreamReaderOptions,
  ): Promise<AsyncIterable<SequencedChunk> | null> | AsyncIterable<SequencedChunk> | null
  result(): Promise<RunEnding>
  /** Lets the run stop after the step under way; it can be resumed. */
  interrupt(): unknown
  /** Stops the run at once, for good. */
  abort(): unknown
}

/** The part of an executor that all runtimes share. */
export interface AgentExecutor {
  execute(
    agent: Agent,
    input: { readonly message: string },
    options: { readonly sessionId: string },
  ): Promise<RunHandle>
  resume(agent: Agent, sessionId: string): Promise<RunHandle>
  branch(
    agent: Agent,
    options: { readonly fromSessionId: string; readonly sessionId: string },
  ): Promise<unknown>
  /** Takes a session that does not run back to a checkpoint. */
  restoreCheckpoint(agent: Agent, sessionId: string, checkpointId: string): Promise<unknown>
  canResume(agent: Agent, sessionId: string): Promise<{ readonly canResume: boolean }>
  /** The live registry; `undefined` when no run of the session is active, or it has no workspaces. */
  getWorkspaceRegistry(
    sessionId: string,
  ): { describe(): readonly WorkspaceDescription[] } | undefined
}

/** One process and the stores it shares with others. */
export interface ExecutorScenario {
  readonly executor: AgentExecutor
  readonly store: SessionStateStore
  /** Lets time go by for the first process, on whatever clock it has. */
  passTime(ms: number): Promise<void>
  /** Another process at the same time, over the same stores. */
  another(): Promise<AgentExecutor>
  /** A new process over the same stores, after the others died and their claims ran out. */
  restart(): Promise<AgentExecutor>
}

/** An executor under test. */
export interface ExecutorSubject {
  /** A kind of workspaces with `fs` that every executor of the subject is given. */
  readonly workspace: ProviderSelection
  /** A first process over fresh stores; all processes of the scenario use the model. */
  createExecutor(model: LLMAdapter): Promise<ExecutorScenario>
}
