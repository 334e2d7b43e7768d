import { checkBudget } from '../budget/budget.ts'
import { AgentDefinitionError } from '../errors/agent-definition-error.ts'
import type { Logger } from '../logging/logger.ts'
import { FINISH_TOOL_NAME } from '../orchestration/effective-tools.ts'
import { allModules } from '../modules/list.ts'
import { checkPermissions } from '../permissions/check-rules.ts'
import type { PermissionRule } from '../permissions/permission-rule.ts'
import { factsOf, factsOfModuleTool, type ToolFacts } from '../permissions/tool-facts.ts'
import { isReservedToolName, isToolName } from '../tools/tool-name.ts'
import { isRecord } from '../tools/json-schema.ts'
import { toJsonSchema } from '../tools/to-json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'
import type { WorkspaceConfigs, WorkspaceDeclaration } from '../workspace/declaration.ts'
import type { Agent, AgentConfig } from './agent-definition.ts'
import { checkUses, checkWorkspaces, possibleTools } from './check-workspaces.ts'
import { isSubAgentTool, subAgentOf } from './sub-agent-tool.ts'
import { warnAboutCommands } from './warn-about-commands.ts'

const DEFAULT_MAX_STEPS = 50
const AGENT_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,47}$/
const KEYS: ReadonlySet<string> = new Set<keyof AgentConfig>([
  'name',
  'description',
  'systemPrompt',
  'tools',
  'stateSchema',
  'outputSchema',
  'llmConfig',
  'maxSteps',
  'maxDurationMs',
  'budget',
  'prepareStep',
  'permissions',
  'approvals',
  'workspaces',
])

/** Options of `defineAgent`. */
export interface DefineAgentOptions {
  /** Gets the warnings of the definition. Without it the first executor that runs it does. */
  readonly logger?: Logger
}

/**
 * Checks an agent and fills in its defaults. The result is frozen plain data.
 * @throws {AgentDefinitionError} `definition-invalid`, naming every problem at once.
 */
export function defineAgent<
  TState = unknown,
  TOutput = unknown,
  const TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
>(
  config: AgentConfig<TState, TOutput, TWorkspaces>,
  options?: DefineAgentOptions,
): Agent<TState, TOutput, TWorkspaces>
export function defineAgent<TState, TOutput>(
  config: AgentConfig<TState, TOutput>,
  options: DefineAgentOptions = {},
): Agent<TState, TOutput> {
  const { declarations, problems } = checkWorkspaces(config.workspaces)
  const all = [
    ...checkFields(config),
    ...checkTools(config.tools ?? []),
    ...problems,
    ...checkUses(config.tools ?? [], declarations),
    ...checkPermissions(config.permissions, () =>
      permissionFacts(config.tools ?? [], declarations),
    ),
  ]
  if (all.length > 0) throw new AgentDefinitionError(`agent ${config.name}`, all)
  const agent = Object.freeze({
    ...config,
    tools: Object.freeze([...(config.tools ?? [])]),
    maxSteps: config.maxSteps ?? DEFAULT_MAX_STEPS,
    ...(config.permissions && { permissions: freezeRules(config.permissions) }),
    workspaces: Object.freeze(declarations),
  })
  if (options.logger !== undefined) warnAboutCommands(agent, options.logger)
  return agent
}

function checkFields(config: AgentConfig): string[] {
  const unknown = Object.keys(config).filter((key) => !KEYS.has(key))
  return [
    ...unknown.map((key) => `unknown field ${key}`),
    ...problem(
      typeof config.name !== 'string' || !AGENT_NAME.test(config.name),
      'name must match [a-zA-Z][a-zA-Z0-9_-]* and have at most 48 characters',
    ),
    ...problem(
      !['undefined', 'string', 'function'].includes(typeof config.systemPrompt),
      'systemPrompt must be a string or a function of the state',
    ),
    ...problem(!isRecord(config.llmConfig), 'llmConfig must be an object with a model'),
    ...checkSchema('stateSchema', config.stateSchema),
    ...checkSchema('outputSchema', config.outputSchema),
    ...checkJsonForm(config.outputSchema),
    ...problem(
      config.maxSteps !== undefined && !(Number.isInteger(config.maxSteps) && config.maxSteps > 0),
      'maxSteps must be a positive integer',
    ),
    ...problem(
      config.maxDurationMs !== undefined && !(config.maxDurationMs > 0),
      'maxDurationMs must be a positive number of milliseconds',
    ),
    ...checkBudget(config.budget, config.llmConfig),
    ...problem(
      !['undefined', 'function'].includes(typeof config.prepareStep),
      'prepareStep must be a function',
    ),
    ...checkApprovals(config.approvals),
  ]
}

function checkApprovals(approvals: AgentConfig['approvals']): string[] {
  if (approvals === undefined) return []
  if (!isRecord(approvals)) return ['approvals must be an object']
  const { expiresInMs } = approvals
  const unknown = Object.keys(approvals).filter((key) => key !== 'expiresInMs')
  return [
    ...unknown.map((key) => `approvals: unknown field ${key}`),
    ...problem(
      expiresInMs !== undefined && !(typeof expiresInMs === 'number' && expiresInMs > 0),
      'approvals.expiresInMs must be a positive number of milliseconds',
    ),
  ]
}

/** Rules are compiled once: later changes of the author's objects count for nothing. */
function freezeRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return Object.freeze(rules.map((rule) => Object.freeze({ ...rule })))
}

/** What rules may be about: every tool that a provider could make the workspaces have. */
function permissionFacts(
  tools: readonly Tool[],
  declarations: Readonly<Record<string, WorkspaceDeclaration>>,
): ToolFacts[] {
  const own = Array.isArray(tools) ? tools.filter(({ name }) => typeof name === 'string') : []
  const injected = Object.values(declarations).flatMap(({ name: workspace, capabilities }) =>
    allModules().flatMap((one) =>
      possibleTools(one, capabilities[one.name]).map((tool) => factsOfModuleTool(workspace, tool)),
    ),
  )
  return [...own.map(factsOf), ...injected]
}

function checkSchema(field: string, schema: Schema | undefined): string[] {
  const usable = schema === undefined || typeof schema['~standard']?.validate === 'function'
  return problem(!usable, `${field} must be a Standard Schema, such as a zod schema`)
}

/** The model needs a JSON Schema of the output. */
function checkJsonForm(schema: Schema | undefined): string[] {
  if (schema === undefined || typeof schema['~standard']?.validate !== 'function') return []
  try {
    toJsonSchema(schema)
    return []
  } catch (error) {
    if (!AgentDefinitionError.isInstance(error)) throw error
    return error.problems.map((line) => `outputSchema: ${line}`)
  }
}

function checkTools(tools: readonly Tool[]): string[] {
  if (!Array.isArray(tools)) return ['tools must be an array']
  const seen = new Set<string>()
  return tools.flatMap((tool) => {
    const problems = checkTool(tool)
    if (seen.has(tool.name)) problems.push(`tool ${tool.name}: the name is used twice`)
    seen.add(tool.name)
    return problems
  })
}

function checkTool(tool: Tool): string[] {
  const { name } = tool
  if (typeof name !== 'string') return ['every tool needs a name']
  const about = (text: string): string => `tool ${name}: ${text}`
  return [
    ...problem(!isToolName(name), about('the name must have 1 to 64 characters of [a-zA-Z0-9_-]')),
    ...problem(
      isReservedToolName(name),
      about('the prefix workspace__ is reserved for workspace tools'),
    ),
    ...problem(
      isSubAgentTool(name) && subAgentOf(tool) === undefined,
      about('the prefix subagent__ is reserved for createSubAgentTool'),
    ),
    ...problem(name === FINISH_TOOL_NAME, about('the name is reserved for the output of an agent')),
    ...problem(
      typeof tool.execute !== 'function' || typeof tool.parse !== 'function',
      about('it was not made by defineTool'),
    ),
    ...problem(
      tool.timeoutMs !== undefined && !(tool.timeoutMs > 0),
      about('timeoutMs must be a positive number of milliseconds'),
    ),
  ]
}

function problem(is: boolean, text: string): string[] {
  return is ? [text] : []
}
