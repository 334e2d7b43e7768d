import type { WorkspaceAccess } from '../registry/workspace-access.ts'
import type { WorkspaceConfigs } from '../workspace/declaration.ts'

/** Reads the custom state: of the type of the schema, or of the type that the caller names. */
export type ReadState<TState> = unknown extends TState ? <T>() => T : () => TState

/** Changes the custom state through a draft. */
export type UpdateState<TState> = unknown extends TState
  ? <T>(recipe: (draft: T) => void) => void
  : (recipe: (draft: TState) => void) => void

/** What a tool may use while it runs. `defineTool` types it by `stateSchema` and `workspaces`. */
export interface ToolContext<
  TState = unknown,
  TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
> {
  readonly sessionId: string
  /** Id of the run. */
  readonly agentId: string
  /** Name of the agent. */
  readonly agentType: string
  readonly toolCallId: string
  /** Aborts when the run is stopped or the tool's time is up. */
  readonly abortSignal: AbortSignal
  /** The workspaces of the session; operations open them, retry and count. */
  readonly workspaces: WorkspaceAccess<TWorkspaces>
  /** The custom state of the session. Read-only: change it with `updateState`. */
  readonly getState: ReadState<TState>
  /** Changes the custom state through a draft; streamed as `state_patch`. */
  readonly updateState: UpdateState<TState>
  /** Streams a `custom` chunk. */
  emit(eventName: string, data: unknown): void
  /** Streams a `tool_progress` chunk. */
  progress(output: 'stdout' | 'stderr', text: string): void
}
