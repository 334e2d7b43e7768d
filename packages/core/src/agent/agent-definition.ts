import type { Budget } from '../budget/budget.ts'
import type { PrepareStep } from '../context/prepare-step.ts'
import type { LLMConfig } from '../llm/llm-adapter.ts'
import type { PermissionRule } from '../permissions/permission-rule.ts'
import type { Schema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'
import type { WorkspaceConfigs, WorkspaceDeclaration } from '../workspace/declaration.ts'

/**
 * Makes the system prompt from the custom state. Declared as a method so that its parameter
 * compares both ways, and agents with different states share one type.
 */
export type SystemPrompt<TState> = string | { prompt(state: TState): string }['prompt']

/** How the requests of an agent to people behave. */
export interface ApprovalOptions {
  /** Time to answer a request, in milliseconds; then it counts as denied. Default: no limit. */
  readonly expiresInMs?: number
}

/** An agent, as its author writes it. */
export interface AgentConfig<
  TState = unknown,
  TOutput = unknown,
  TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
> {
  /** Unique among the agents of an application; `[a-zA-Z][a-zA-Z0-9_-]*`, at most 48 characters. */
  readonly name: string
  /** For the model of a parent: what the agent is good for. */
  readonly description?: string
  /** A text, or a function of the custom state. Default: none. */
  readonly systemPrompt?: SystemPrompt<TState>
  /** Tools beside those of the workspaces. */
  readonly tools?: readonly Tool[]
  /** Custom state; its fields need defaults, since a session starts from `{}`. */
  readonly stateSchema?: Schema<TState>
  /** With it the agent ends by giving its output through the tool `__finish__`. */
  readonly outputSchema?: Schema<TOutput>
  /** `model` is what the adapter in use expects; the rest are its settings. */
  readonly llmConfig: LLMConfig
  /** Steps of one run. Default 50. */
  readonly maxSteps?: number
  /** Time of one run. Default: no limit. */
  readonly maxDurationMs?: number
  /** Limits of tokens, cost and time. Default: none. */
  readonly budget?: Budget
  /**
   * Changes what the model gets in a step: see `fitContext`. Default: the whole conversation, until
   * the model says that it is too long; then the oldest steps are left out.
   */
  readonly prepareStep?: PrepareStep
  /**
   * Which calls run, wait for a person, or are rejected: `deny` beats `ask` beats `allow`. Default:
   * every call is allowed.
   */
  readonly permissions?: readonly PermissionRule[]
  /** How people are asked about calls. */
  readonly approvals?: ApprovalOptions
  /** By name: `[a-z][a-z0-9-_]*`. */
  readonly workspaces?: TWorkspaces
}

/** A checked agent: plain data, made by `defineAgent`. */
export interface Agent<
  TState = unknown,
  TOutput = unknown,
  TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs,
> extends Omit<AgentConfig<TState, TOutput>, 'workspaces' | 'maxSteps' | 'tools'> {
  readonly tools: readonly Tool[]
  readonly maxSteps: number
  readonly workspaces: { readonly [TName in keyof TWorkspaces]: WorkspaceDeclaration }
}
