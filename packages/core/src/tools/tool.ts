import type { JsonSchema } from './json-schema.ts'
import type { ModelOutput, ToolAnnotations } from './model-output.ts'
import type { ToolPermission } from '../permissions/tool-permission.ts'
import type { WorkspaceAccess } from '../registry/workspace-access.ts'
import type { WorkspaceConfigs } from '../workspace/declaration.ts'
import type { ToolContext } from './tool-context.ts'

/** Whether a person must approve a call before it starts. */
export type NeedsApproval<TInput = unknown, TContext = ToolContext> =
  | boolean
  | ((input: TInput, context: TContext) => boolean | Promise<boolean>)

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
  /** Default: `false`, and the rules of the agent decide. */
  readonly needsApproval?: NeedsApproval
  /** Time to answer a request of a call, in milliseconds. Default: that of the agent. */
  readonly approvalTtlMs?: number
  /**
   * Its result is the answer to a request of this kind: `execute` is not called. Default: `execute`
   * gives the result.
   */
  readonly answeredBy?: 'question' | 'client-tool'
  /** Checks a result that was given as an answer. @throws {ToolFailedError} `tool-failed` */
  parseOutput?(output: unknown): Promise<unknown>
  /** The workspaces that it was typed by: `defineAgent` compares them with those of the agent. */
  readonly workspaces?: WorkspaceConfigs
  /** What permission rules and previews know of its calls. Default: its name and its arguments. */
  readonly permission?: ToolPermission
  /** @throws {ToolInputError} `invalid-input`, with the failing fields. */
  parse(input: unknown): unknown
  execute(input: unknown, context: ToolContext): Promise<unknown>
  toModelOutput(output: unknown): ModelOutput
  /** After a failed call: a notice for the model, given once, such as lost files. */
  takeNotice?(workspaces: WorkspaceAccess): string | undefined
}
