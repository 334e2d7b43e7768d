import { AgentDefinitionError } from '../errors/agent-definition-error.ts'
import { HelixError } from '../errors/helix-error.ts'
import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { JsonSchema } from '../tools/json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import { isToolName } from '../tools/tool-name.ts'
import type { WorkspaceConfigs } from '../workspace/declaration.ts'
import type { ModelOutput, ToolAnnotations } from '../tools/model-output.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
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
  /** Does the work. */
  readonly execute: (
    input: SchemaOutput<TInput>,
    context: ToolContext<TState, TWorkspaces>,
  ) => TOutput | Promise<TOutput>
  /** The run completes with the result of this tool as its output. */
  readonly finishWith?: boolean
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
 * for a missing description, `inputSchema` or `execute`.
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
  const { name, description, finishWith, timeoutMs, orderKey, workspaces } = config
  const toModelOutput = config.toModelOutput ?? renderForModel
  const defaults = config.annotations?.readOnly === true ? HARMLESS : CAUTIOUS
  const tool = {
    name,
    description,
    annotations: { ...defaults, ...config.annotations },
    ...defineInput(config.inputSchema),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(orderKey !== undefined && { orderKey }),
    ...(finishWith !== undefined && { finishWith }),
    ...(workspaces !== undefined && { workspaces }),
    execute: (input: SchemaOutput<TInput>, context: ToolContext) => run(config, input, context),
    toModelOutput,
  }
  // Runtimes hand `execute` the result of `parse`, and `toModelOutput` that of `execute`.
  return Object.freeze(tool) as Tool
}

type Unchecked = Partial<
  Readonly<Record<'name' | 'description' | 'inputSchema' | 'execute', unknown>>
>

function assertConfig({ name, description, inputSchema, execute }: Unchecked): void {
  const isNamed = typeof name === 'string' && isToolName(name)
  const isSchema = typeof inputSchema === 'object' || typeof inputSchema === 'function'
  const problems = [
    ...(isNamed ? [] : ['the name must have 1 to 64 characters of [a-zA-Z0-9_-]']),
    ...(typeof description === 'string' ? [] : ['the description must be a text']),
    ...(isSchema && inputSchema !== null
      ? []
      : ['the inputSchema must be a Standard Schema, such as z.object({}), or a JSON Schema']),
    ...(typeof execute === 'function' ? [] : ['execute must be a function']),
  ]
  if (problems.length === 0) return
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : 'without a name'
  throw new AgentDefinitionError(`the tool ${shown}`, problems)
}

async function run<TInput extends Schema | JsonSchema, TOutput>(
  { name, execute, outputSchema }: ToolConfig<TInput, TOutput>,
  input: SchemaOutput<TInput>,
  context: ToolContext,
): Promise<TOutput> {
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

/** An error whose message its author meant for a reader: not the platform's, not a stop. */
function speakable(error: unknown): error is Error {
  if (!(error instanceof Error) || HelixError.isInstance(error)) return false
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return false
  if ('syscall' in error || 'errno' in error) return false
  return error.message !== '' && !/\n\s+at /.test(error.message)
}
