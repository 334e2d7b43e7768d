// Agents
export type {
  Agent,
  AgentConfig,
  OnLost,
  ProviderSelection,
  WorkspaceConfig,
  WorkspaceDeclaration,
} from './agent/agent-definition.ts'

// Errors
export { AgentAlreadyRunningError } from './errors/agent-already-running-error.ts'
export { AgentDefinitionError } from './errors/agent-definition-error.ts'
export {
  FileSystemError,
  type FileSystemErrorCode,
  type FileSystemErrorOptions,
} from './errors/file-system-error.ts'
export { HelixError, type HelixErrorOptions } from './errors/helix-error.ts'
export { PolicyError, type PolicyErrorCode } from './errors/policy-error.ts'
export { StateStoreError, type StateStoreErrorCode } from './errors/state-store-error.ts'
export { renderToolError, type ToolError, toToolError } from './errors/to-tool-error.ts'
export {
  ToolInputError,
  type ToolInputErrorCode,
  type ToolInputErrorOptions,
  type ToolInputIssue,
} from './errors/tool-input-error.ts'
export {
  type WorkspaceEvictedCode,
  WorkspaceEvictedError,
  type WorkspaceEvictedOptions,
} from './errors/workspace-evicted-error.ts'
export {
  type WorkspaceFailedCode,
  WorkspaceFailedError,
  type WorkspaceFailedOptions,
} from './errors/workspace-failed-error.ts'

// Models
export type {
  LLMAdapter,
  LLMConfig,
  StepCallbacks,
  StepInput,
  StepResult,
  TokenUsage,
  ToolSpec,
} from './llm/llm-adapter.ts'
export type {
  AssistantMessage,
  FilePart,
  Message,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from './llm/messages.ts'

// Logging
export { logMessages } from './logging/log-messages.ts'
export { type Logger, noopLogger } from './logging/logger.ts'

// Module: fs
export {
  type FileSystemConfig,
  type FileSystemConfigInput,
  fileSystemConfigSchema,
} from './modules/fs/config.ts'
export type {
  FileEntry,
  FileEvent,
  FileStat,
  FileSystem,
  FileType,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  GrepResult,
  ReadStreamOptions,
  TransferOptions,
  WriteOptions,
} from './modules/fs/contract.ts'
export { FileLedger, type FileLedgerSnapshot, type LedgerEntry } from './modules/fs/file-ledger.ts'

// Module: shell
export {
  type ShellConfig,
  type ShellConfigInput,
  shellConfigSchema,
} from './modules/shell/config.ts'
export {
  type BackgroundProcess,
  type OutputCut,
  type ProcessOutput,
  type RunResult,
  runSucceeded,
  type Shell,
  type ShellCommand,
  type ShellRunOptions,
} from './modules/shell/contract.ts'

// Module: code
export { type CodeConfig, type CodeConfigInput, codeConfigSchema } from './modules/code/config.ts'
export type {
  CodeContextId,
  CodeInterpreter,
  CodeOutput,
  RunCodeOptions,
  RunCodeResult,
} from './modules/code/contract.ts'

// Module: snapshot
export {
  type SnapshotConfig,
  type SnapshotConfigInput,
  snapshotConfigSchema,
} from './modules/snapshot/config.ts'
export type { SnapshotOptions, SnapshotRef, Snapshotter } from './modules/snapshot/contract.ts'

// Modules
export type { ModuleDefinition, ModuleTool, PolicyRejection } from './modules/define-module.ts'
export {
  type Capabilities,
  type CapabilitiesInput,
  type ModuleName,
  workspaceModules,
} from './modules/registry.ts'

// Workspaces
export type { WorkspaceDescription } from './registry/describe.ts'
export type { WorkspaceState } from './registry/entry-state.ts'
export type { OpenWorkspace, UseOptions, WorkspaceAccess } from './registry/workspace-access.ts'
export { noopMetrics, type WorkspaceLabels, type WorkspaceMetrics } from './workspace/metrics.ts'
export type {
  OpenedWorkspace,
  OpenOptions,
  ResolveOptions,
  RestoreReceipt,
  SessionRef,
  WorkspaceProvider,
} from './workspace/provider.ts'
export type { WorkspaceCapabilityFlags, WorkspaceRef } from './workspace/ref.ts'
export type { Isolation, Workspace } from './workspace/workspace.ts'

// State and streams
export type {
  Checkpoint,
  JournalEntry,
  JournalResult,
  RunRecord,
  SessionLabels,
  SessionState,
  SessionStatus,
  StoredError,
} from './state/session-state.ts'
export type {
  MessagePage,
  MessageQuery,
  NewSession,
  Page,
  PageQuery,
  RunEnd,
  RunStart,
  RunWrite,
  SessionStateStore,
  StepCommit,
  StepStart,
} from './state/session-state-store.ts'
export type { ChunkType, SequencedChunk, StatePatch, StreamChunk } from './stream/chunks.ts'
export type { StreamManager, StreamReaderOptions, StreamWriter } from './stream/stream-manager.ts'

// Time
export { type Clock, systemClock } from './time/clock.ts'

// Tools
export type { JsonSchema, JsonValue } from './tools/json-schema.ts'
export type { Schema, SchemaIssue, SchemaResult } from './tools/schema.ts'
export type {
  ModelOutput,
  ModelOutputPart,
  Tool,
  ToolAnnotations,
  ToolContext,
} from './tools/tool.ts'
