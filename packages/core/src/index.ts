// Agents
export type {
  Agent,
  AgentConfig,
  OnLost,
  ProviderSelection,
  WorkspaceConfig,
  SystemPrompt,
  WorkspaceDeclaration,
} from './agent/agent-definition.ts'
export { defineAgent, type DefineAgentOptions } from './agent/define-agent.ts'
export { defineTool, type SchemaOutput, type ToolConfig } from './agent/define-tool.ts'
export {
  createSubAgentTool,
  isSubAgentTool,
  SUBAGENT_TOOL_PREFIX,
  type SubAgentCall,
  subAgentOf,
  type SubAgentTool,
  type SubAgentToolOptions,
} from './agent/sub-agent-tool.ts'
export { warnAboutCommands } from './agent/warn-about-commands.ts'

// Orchestration: the pure steps of a run, for runtimes
export { createAssistantMessage, createToolResultMessage } from './orchestration/create-messages.ts'
export {
  buildEffectiveTools,
  type EffectiveTools,
  FINISH_TOOL_NAME,
} from './orchestration/effective-tools.ts'
export { initializeAgentState } from './orchestration/initial-state.ts'
export { toJsonValue } from './orchestration/json-value.ts'
export { planStepProcessing, type StepPlan } from './orchestration/plan-step.ts'
export { type ScheduledCall, scheduleToolCalls } from './orchestration/schedule-tool-calls.ts'
export {
  shouldStopExecution,
  type StopConditions,
  type StopReason,
} from './orchestration/should-stop.ts'

// Limits and context
export {
  type Budget,
  type BudgetLimit,
  costOfCall,
  type CostOf,
  reachedLimit,
} from './budget/budget.ts'
export { costByPrices, type ModelPrice } from './budget/prices.ts'
export { addSpending, NO_SPENDING, type Spending, spendingOf } from './budget/spending.ts'
export { estimateTokens } from './context/estimate-tokens.ts'
export { fitContext, type FitContextOptions } from './context/fit-context.ts'
export type { PrepareStep, StepChanges, StepDraft } from './context/prepare-step.ts'
export { withWholeCalls } from './context/whole-calls.ts'

// Errors
export { AgentAlreadyRunningError } from './errors/agent-already-running-error.ts'
export { AgentDefinitionError } from './errors/agent-definition-error.ts'
export {
  FileSystemError,
  type FileSystemErrorCode,
  type FileSystemErrorOptions,
} from './errors/file-system-error.ts'
export { FleetError, type FleetErrorCode, type FleetErrorOptions } from './errors/fleet-error.ts'
export { HelixError, type HelixErrorOptions } from './errors/helix-error.ts'
export { ModelError, type ModelErrorCode, type ModelErrorOptions } from './errors/model-error.ts'
export { PolicyError, type PolicyErrorCode } from './errors/policy-error.ts'
export { SessionError, type SessionErrorCode } from './errors/session-error.ts'
export { StateStoreError, type StateStoreErrorCode } from './errors/state-store-error.ts'
export { renderToolError, type ToolError, toToolError } from './errors/to-tool-error.ts'
export { ToolFailedError, type ToolFailedCode } from './errors/tool-failed-error.ts'
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
  ModelRetry,
  StepCallbacks,
  StepInput,
  StepResult,
  TokenUsage,
  ToolInputDelta,
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

export {
  type ContentLimits,
  contentLimits,
  ContentMeter,
  type ContentProblem,
  contentProblem,
  describeContentProblem,
  isStorableId,
} from './llm/content-limits.ts'
export { isMessage, isModelOutput, sizeProblem } from './llm/message-shape.ts'
export { readStepResult } from './llm/read-step-result.ts'
export { MockLLMAdapter, type MockStep } from './llm/mock-llm-adapter.ts'

// Logging
export { logMessages } from './logging/log-messages.ts'
export { type Logger, noopLogger } from './logging/logger.ts'
export { RateLimitedLogger, type RateLimitedLoggerOptions } from './logging/rate-limited-logger.ts'

// Module: fs
export { decodeText, isBinary, readText, toBytes, utf8Length } from './modules/fs/text/bytes.ts'
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
export {
  FileLedger,
  type FileLedgerSnapshot,
  type KnownAfterWrite,
  type LedgerEntry,
  type ReadLines,
  type StaleFile,
} from './modules/fs/ledger/file-ledger.ts'
export { compileGlob, type GlobMatcher } from './modules/fs/search/glob.ts'
export { GrepCollector } from './modules/fs/search/grep-collector.ts'
export {
  baseName,
  checkSubtreeFits,
  compareCodePoints,
  fitsPathLimits,
  INTERNAL_DIRECTORY,
  isWithin,
  joinPath,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  MAX_PATH_DEPTH,
  normalizePath,
  parentPath,
  pathDepth,
  type SubtreeExtent,
} from './modules/fs/path/path.ts'
export { checkTransferFits } from './modules/fs/path/subtree.ts'
export { compileSearch, type TextSearch } from './modules/fs/search/search.ts'
export { createSearchPace, type SearchPace } from './modules/fs/search/search-pace.ts'
export { sortByCodePoint } from './modules/fs/path/sort-paths.ts'

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
export { commandsNotKnownHarmless } from './modules/shell/harmless-commands.ts'
export type { StaleRead } from './modules/shell/stale-reads.ts'
export type { ProcessOutputPage } from './modules/shell/tools/process-output.ts'
export type { RunOutput, StartOutput } from './modules/shell/tools/run.ts'
export { parseWords, quoteWord, type WordOffence, type WordParse } from './modules/shell/words.ts'

// Module: code
export { decodeBase64, encodeBase64 } from './modules/code/base64.ts'
export type { CodeRun, CodeRunOutput } from './modules/code/code-run.ts'
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
  allCapabilityFlags,
  allModules,
  type AnyModule,
  type Capabilities,
  type CapabilitiesInput,
  type CapabilityFlag,
  type ModuleName,
  type WorkspaceModules,
  workspaceModules,
} from './modules/list.ts'

// Workspaces
export type { WorkspaceDescription } from './registry/describe.ts'
export {
  type HealthSignal,
  healthSignals,
  type HealthThresholds,
  type SessionWorkspaceHealth,
} from './registry/health-signals.ts'
export type { WorkspaceState } from './registry/entry-state.ts'
export { createOpenLimit, type OpenLimit } from './registry/open-limit.ts'
export type {
  CloseMode,
  CloseReport,
  OwedDestroy,
  RegistryDeps,
  RegistryOptions,
} from './registry/registry-deps.ts'
export type { OpenWorkspace, UseOptions, WorkspaceAccess } from './registry/workspace-access.ts'
export { WorkspaceRegistry } from './registry/workspace-registry.ts'
export { assertProvidersSupport } from './workspace/assert-providers-support.ts'
export { assertRuntimeSupportsWorkspaces } from './workspace/assert-runtime-supports-workspaces.ts'
export { assertCapabilities, type CapabilityCheck } from './workspace/capability-invariant.ts'
export type {
  WorkspaceActivityEvent,
  WorkspaceCloseEvent,
  WorkspaceLifecycleEvent,
  WorkspaceLifecycleListener,
  WorkspaceOpenEvent,
  WorkspaceOwedEvent,
} from './workspace/lifecycle-listener.ts'
export { noopMetrics, type WorkspaceLabels, type WorkspaceMetrics } from './workspace/metrics.ts'
export {
  parseProviderRef,
  parseWorkspaceRef,
  type ProviderRefFormat,
} from './workspace/parse-ref.ts'
export type {
  OpenedWorkspace,
  OpenOptions,
  ResolveOptions,
  RestoreReceipt,
  SessionRef,
  WorkspaceProvider,
} from './workspace/provider.ts'
export type { WorkspaceCapabilityFlags } from './modules/list.ts'
export type { OfferedCapabilities, WorkspaceRef } from './workspace/ref.ts'
export type { Containment, Isolation, Workspace } from './workspace/workspace.ts'

// State and streams
export { assertStorable, assertStorableIds, type StorableWrite } from './state/assert-storable.ts'
export type {
  Checkpoint,
  JournalEntry,
  JournalResult,
  RunRecord,
  SessionLabels,
  SessionState,
  SessionStatus,
  StoredError,
  StoredOutcome,
} from './state/session-state.ts'
export type {
  MessageAppend,
  MessagePage,
  MessageQuery,
  NewSession,
  Page,
  PageQuery,
  RunEnd,
  RunStart,
  RunWrite,
  SessionPage,
  SessionQuery,
  SessionStateStore,
  StateChange,
  StepCommit,
  StepStart,
  ToolCallCompletion,
  UnreadableSession,
} from './state/session-state-store.ts'
export { toChunkJson } from './stream/chunk-json.ts'
export { cutChunk } from './stream/cut-chunk.ts'
export { type PageRange, parseCount, parsePageQuery, toCursor } from './state/page-query.ts'
export type { ChunkType, SequencedChunk, StatePatch, StreamChunk } from './stream/chunks.ts'
export { encodeServerSentEvent, parseLastEventId } from './stream/server-sent-event.ts'
export type { ReadChunks } from './stream/server-sent-event-source.ts'
export {
  createServerSentEvents,
  createServerSentEventsResponse,
  type ServerSentEventsOptions,
} from './stream/server-sent-events.ts'
export type { StreamManager, StreamReaderOptions, StreamWriter } from './stream/stream-manager.ts'

// Telemetry
export type {
  Span,
  SpanAttributes,
  SpanAttributeValue,
  SpanException,
  SpanOptions,
  Tracer,
} from './telemetry/tracer.ts'
export {
  failSpan,
  failSpanWith,
  type SpanFailure,
  type SpanStart,
  traced,
} from './telemetry/traced.ts'

// Time
export { untilAborted } from './time/abort.ts'
export { backoffMs } from './time/backoff.ts'
export { type Clock, systemClock, type TimerOptions } from './time/clock.ts'
export { type Deadline, withDeadline } from './time/deadline.ts'
export { createTimeSlice, type TimeSlice } from './time/slice.ts'

// Tools
export { injectWorkspaceTools } from './tools/inject-workspace-tools.ts'
export type { JsonSchema, JsonValue } from './tools/json-schema.ts'
export { MAX_RESULT_CHARACTERS } from './tools/result-budget.ts'
export type { Schema, SchemaIssue, SchemaResult } from './tools/schema.ts'
export { parseWithSchema } from './tools/schema-parse.ts'
export { toJsonSchema, toSchema } from './tools/to-json-schema.ts'
export { RESERVED_TOOL_PREFIX, workspaceOrderKey, workspaceToolName } from './tools/tool-name.ts'
export type { ModelOutput, ModelOutputPart, ToolAnnotations } from './tools/model-output.ts'
export type { Tool, ToolContext } from './tools/tool.ts'
