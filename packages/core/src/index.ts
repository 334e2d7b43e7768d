// What the author of an agent uses. Providers and runtimes: ./provider.ts, ./runtime.ts.

// Agents
export type { Agent, AgentConfig, ApprovalOptions, SystemPrompt } from './agent/agent-definition.ts'
export { defineAgent, type DefineAgentOptions } from './agent/define-agent.ts'
export type {
  PermissionDecision,
  PermissionRule,
  PermissionSubject,
  PermissionVerdict,
  TouchedPath,
} from './permissions/permission-rule.ts'
export type { CapabilitiesInput } from './modules/list.ts'
export type {
  LiveWorkspace,
  OnLost,
  WorkspaceConfig,
  WorkspaceConfigs,
} from './workspace/declaration.ts'
export type { ProviderSelection } from './workspace/ref.ts'

// Tools
export { askUserTool, type AskUserToolOptions } from './agent/ask-user-tool.ts'
export { defineTool, type SchemaOutput, type ToolConfig } from './agent/define-tool.ts'
export {
  createSubAgentTool,
  type SubAgentTool,
  type SubAgentToolOptions,
} from './agent/sub-agent-tool.ts'
export type { JsonSchema, JsonValue } from './tools/json-schema.ts'
export type { ModelOutput, ModelOutputPart, ToolAnnotations } from './tools/model-output.ts'
export type { Schema } from './tools/schema.ts'
export type { ModulePreview } from './permissions/module-preview.ts'
export type { ToolFacts } from './permissions/tool-facts.ts'
export type { CallAccess, ToolPermission } from './permissions/tool-permission.ts'
export type { NeedsApproval, Tool } from './tools/tool.ts'
export type { ToolContext } from './tools/tool-context.ts'

// Workspaces in a tool
export { readText } from './modules/fs/text/bytes.ts'
export { runSucceeded } from './modules/shell/contract.ts'
export type { OpenWorkspace, UseOptions, WorkspaceAccess } from './registry/workspace-access.ts'

// Limits and context
export type { Budget, CostOf } from './budget/budget.ts'
export { costByPrices, type ModelPrice } from './budget/prices.ts'
export { estimateTokens } from './context/estimate-tokens.ts'
export { fitContext, type FitContextOptions } from './context/fit-context.ts'
export type { PrepareStep, StepChanges, StepDraft } from './context/prepare-step.ts'

// Messages
export type {
  AssistantMessage,
  FilePart,
  Message,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from './llm/messages.ts'

// Models
export type {
  LLMAdapter,
  LLMConfig,
  ModelRetry,
  StepInput,
  StepResult,
  TokenUsage,
} from './llm/llm-adapter.ts'
export { MockLLMAdapter, type MockStep } from './llm/mock-llm-adapter.ts'

// Errors
export { AgentAlreadyRunningError } from './errors/agent-already-running-error.ts'
export { AgentDefinitionError } from './errors/agent-definition-error.ts'
export { FileSystemError, type FileSystemErrorCode } from './errors/file-system-error.ts'
export { HelixError } from './errors/helix-error.ts'
export { ModelError, type ModelErrorCode } from './errors/model-error.ts'
export { PolicyError, type PolicyErrorCode } from './errors/policy-error.ts'
export { SessionError, type SessionErrorCode } from './errors/session-error.ts'
export { SnapshotStoreError, type SnapshotStoreErrorCode } from './errors/snapshot-store-error.ts'
export { StateStoreError, type StateStoreErrorCode } from './errors/state-store-error.ts'
export { type ToolFailedCode, ToolFailedError } from './errors/tool-failed-error.ts'
export {
  ToolInputError,
  type ToolInputErrorCode,
  type ToolInputIssue,
} from './errors/tool-input-error.ts'
export {
  type WorkspaceEvictedCode,
  WorkspaceEvictedError,
} from './errors/workspace-evicted-error.ts'
export { type WorkspaceFailedCode, WorkspaceFailedError } from './errors/workspace-failed-error.ts'

// Ports of the application
export { type Logger, noopLogger } from './logging/logger.ts'
export { type Clock, systemClock } from './time/clock.ts'
