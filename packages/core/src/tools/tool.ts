import type { JsonSchema } from './json-schema.ts'
import type { ModelOutput, ToolAnnotations } from './model-output.ts'
import type { WorkspaceAccess } from '../registry/workspace-access.ts'

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly sessionId: string
  /** Id of the run. */
  readonly agentId: string
  /** Name of the agent. */
  readonly agentType: string
  readonly toolCallId: string
  /** Aborts when the run is stopped or the tool's time is up. */
  readonly abortSignal: AbortSignal
  /** The workspaces of the session; operations open them, retry and count. */
  readonly workspaces: WorkspaceAccess
  /** The custom state of the session. Read-only: change it with `updateState`. */
  getState<T>(): T
  /** Changes the custom state through a draft; streamed as `state_patch`. */
  updateState<T>(recipe: (draft: T) => void): void
  /** Streams a `custom` chunk. */
  emit(eventName: string, data: unknown): void
  /** Streams a `tool_progress` chunk. */
  progress(output: 'stdout' | 'stderr', text: string): void
}

/**
 * A tool with its types erased, as runtimes see it. `defineTool` makes one from a typed
 * definition; capability modules and `createSubAgentTool` make the others.
 */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly annotations: ToolAnnotations
  /** The arguments as JSON Schema, for the model. */
  readonly parameters: JsonSchema
  /** Calls that are not read-only and share this key keep their order; absent: the tool's name. */
  readonly orderKey?: string
  readonly timeoutMs?: number
  /** The run completes with the result of this tool as its output. */
  readonly finishWith?: boolean
  /** @throws {ToolInputError} `invalid-input`, with the failing fields. */
  parse(input: unknown): unknown
  execute(input: unknown, context: ToolContext): Promise<unknown>
  toModelOutput(output: unknown): ModelOutput
  /** After a call that failed: what the model must be told once, such as files that are gone. */
  takeNotice?(workspaces: WorkspaceAccess): string | undefined
}
