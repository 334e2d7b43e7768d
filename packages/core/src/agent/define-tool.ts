import { AgentDefinitionError } from '../errors/agent-definition-error.ts'
import { HelixError } from '../errors/helix-error.ts'
import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { JsonSchema } from '../tools/json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import { isToolName } from '../tools/tool-name.ts'
import type { WorkspaceConfigs } from '../workspace/declaration.ts'
import type { ModelOutput, ToolAnnotations } from '../tools/model-output.ts'
import type { NeedsApproval, Tool } from '../tools/tool.ts'
import type { ToolContext } from '../tools/tool-context.ts'
import { renderForModel } from './render-for-model.ts'
import { checkOutput, defineInput } from './tool-input.ts'

/** What a schema accepts; a plain JSON Schema says nothing to the compiler. */
export type SchemaOutput<S> = S extends Schema<infer Output> ? Output : unknown

/** A tool, as its author writes it. */
export interface ToolConfig<
  TInput extends Schema | JsonSchema,
  TOutput,
  TState = unknown,
  TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
> {
  /** 1 to 64 characters of `[a-zA-Z0-9_-]`; not `workspace__…`. */
  readonly name: string
  /** For the model: what it does and when to use it. */
  readonly description: string
  /** Any Standard Schema, such as zod, or a plain JSON Schema. */
  readonly inputSchema: TInput
  /** Checks the result of `execute`. */
  readonly outputSchema?: Schema<TOutput>
  /** The custom state of the agent: types `getState` and `updateState`. Default: the caller says. */
  readonly stateSchema?: Schema<TState>
  /**
   * The workspaces of the agent that it uses: types `context.workspaces`, whose names and modules are
   * then known. Default: any name, and modules that may be absent.
   */
  readonly workspaces?: TWorkspaces
  /** Does the work. Without it a client does: the call waits until `respond` gives its output. */
  readonly execute?: (
    input: SchemaOutput<TInput>,
    context: ToolContext<TState, TWorkspaces>,
  ) => TOutput | Promise<TOutput>
  /** The run completes with the result of this tool as its output. */
  readonly finishWith?: boolean
  /**
   * A person approves a call before it starts: all calls, or those that a function chooses by the
   * checked input. When the function throws, the call fails and nothing runs. Default: `false`.
   */
  readonly needsApproval?: NeedsApproval<SchemaOutput<TInput>, ToolContext<TState, TWorkspaces>>
  /**
   * Time to answer a request of a call, in milliseconds; then it counts as denied. Default: that of
   * the agent (`approvals.expiresInMs`).
   */
  readonly approvalTtlMs?: number
  /** Default: `{ readOnly: false, destructive: true, idempotent: false }`. */
  readonly annotations?: Partial<ToolAnnotations>
  /** Time of one call, in milliseconds. Default: no limit of its own. */
  readonly timeoutMs?: number
  /** Calls that change something and share this key keep their order. Default: the name. */
  readonly orderKey?: string
  /** The result as the model reads it. Default: text as it is, anything else as JSON. */
  readonly toModelOutput?: (output: TOutput) => ModelOutput
}

const CAUTIOUS: ToolAnnotations = { readOnly: false, destructive: true, idempotent: false }
const HARMLESS: ToolAnnotations = { readOnly: true, destructive: false, idempotent: true }

/**
 * Makes a tool from a typed definition. The message of an error that `execute` throws goes to
 * the model with the code `tool-failed`, except for errors of the platform (files, sockets),
 * which may name what the model must not see.
 * @throws {AgentDefinitionError} `definition-invalid` for a name that model providers reject, and
 * for a missing description or `inputSchema`.
 */
export function defineTool<
  TInput extends Schema | JsonSchema,
  TOutput,
  TState = unknown,
  const TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
>(config: ToolConfig<TInput, TOutput, TState, TWorkspaces>): Tool
export function defineTool<TInput extends Schema | JsonSchema, TOutput>(
  config: ToolConfig<TInput, TOutput>,
): Tool {
  assertConfig(config)
  const { name, description, execute, needsApproval, approvalTtlMs } = config
  const toModelOutput = config.toModelOutput ?? renderForModel
  const defaults = config.annotations?.readOnly === true ? HARMLESS : CAUTIOUS
  const tool = {
    name,
    description,
    annotations: { ...defaults, ...config.annotations },
    ...defineInput(config.inputSchema),
    ...scheduling(config),
    ...(needsApproval !== undefined && { needsApproval }),
    ...(approvalTtlMs !== undefined && { approvalTtlMs }),
    ...(execute === undefined ? answeredByClient(config) : { execute: runs(config, execute) }),
    toModelOutput,
  }
  // Runtimes hand `execute` the result of `parse`, and `toModelOutput` that of `execute`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types are erased here
  return Object.freeze(tool) as Tool
}

function scheduling<TInput extends Schema | JsonSchema, TOutput>({
  finishWith,
  timeoutMs,
  orderKey,
  workspaces,
}: ToolConfig<TInput, TOutput>): Pick<
  Tool,
  'finishWith' | 'timeoutMs' | 'orderKey' | 'workspaces'
> {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(orderKey !== undefined && { orderKey }),
    ...(finishWith !== undefined && { finishWith }),
    ...(workspaces !== undefined && { workspaces }),
  }
}

type Unchecked = Partial<
  Readonly<
    Record<
      'name' | 'description' | 'inputSchema' | 'execute' | 'needsApproval' | 'approvalTtlMs',
      unknown
    >
  >
>

function assertConfig(config: Unchecked): void {
  const { name, description, inputSchema, execute } = config
  const isNamed = typeof name === 'string' && isToolName(name)
  const isSchema = typeof inputSchema === 'object' || typeof inputSchema === 'function'
  const problems = [
    ...problem(isNamed, 'the name must have 1 to 64 characters of [a-zA-Z0-9_-]'),
    ...problem(typeof description === 'string', 'the description must be a text'),
    ...problem(
      isSchema && inputSchema !== null,
      'the inputSchema must be a Standard Schema, such as z.object({}), or a JSON Schema',
    ),
    ...problem(
      isOf(['function', 'undefined'], execute),
      'execute must be a function, or absent when a client gives the output',
    ),
    ...approvalProblems(config),
  ]
  if (problems.length === 0) return
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : 'without a name'
  throw new AgentDefinitionError(`the tool ${shown}`, problems)
}

function approvalProblems({ needsApproval, approvalTtlMs }: Unchecked): string[] {
  return [
    ...problem(
      isOf(['function', 'boolean', 'undefined'], needsApproval),
      'needsApproval must be a boolean or a function',
    ),
    ...problem(
      approvalTtlMs === undefined || isDuration(approvalTtlMs),
      'approvalTtlMs must be a positive number of milliseconds',
    ),
  ]
}

function problem(isFine: boolean, text: string): string[] {
  return isFine ? [] : [text]
}

function isOf(types: readonly string[], value: unknown): boolean {
  return types.includes(typeof value)
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value > 0
}

type Execute<TInput extends Schema | JsonSchema, TOutput> = NonNullable<
  ToolConfig<TInput, TOutput>['execute']
>

function runs<TInput extends Schema | JsonSchema, TOutput>(
  { name, outputSchema }: ToolConfig<TInput, TOutput>,
  execute: Execute<TInput, TOutput>,
): (input: SchemaOutput<TInput>, context: ToolContext) => Promise<TOutput> {
  return async (input, context) => {
    let output
    try {
      output = await execute(input, context)
    } catch (error) {
      throw speakable(error)
        ? new ToolFailedError('tool-failed', error.message, { cause: error })
        : error
    }
    return outputSchema === undefined ? output : await checkOutput(name, outputSchema, output)
  }
}

function answeredByClient<TInput extends Schema | JsonSchema, TOutput>({
  name,
  outputSchema,
}: ToolConfig<TInput, TOutput>): Pick<Tool, 'answeredBy' | 'execute' | 'parseOutput'> {
  return {
    answeredBy: 'client-tool',
    execute: () =>
      Promise.reject(new ToolFailedError('tool-failed', 'this runtime does not ask clients')),
    ...(outputSchema !== undefined && {
      parseOutput: (output: unknown) => checkOutput(name, outputSchema, output),
    }),
  }
}

/** An error whose message its author meant for a reader: not the platform's, not a stop. */
function speakable(error: unknown): error is Error {
  if (!(error instanceof Error) || HelixError.isInstance(error)) return false
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return false
  if ('syscall' in error || 'errno' in error) return false
  return error.message !== '' && !/\n\s+at /.test(error.message)
}
