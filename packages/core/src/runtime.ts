// What runtimes, stores, telemetry and operating tools build on.

// Agents
export type { WorkspaceDeclaration } from './workspace/declaration.ts'
export { isSubAgentTool, type SubAgentCall, subAgentOf } from './agent/sub-agent-tool.ts'
export { warnAboutCommands } from './agent/warn-about-commands.ts'

// Permissions
export { type AgentPermissions, strictest } from './permissions/agent-permissions.ts'
export {
  type CheckedCall,
  decideCall,
  permissionDenied,
  permissionsOf,
  subjectOf,
} from './permissions/decide-call.ts'
export { describeRule, subjectKey } from './permissions/permission-rule.ts'
export { factsOf } from './permissions/tool-facts.ts'
export { basisHolds, previewCall } from './permissions/preview-call.ts'
export type { PreviewedCall, PreviewLimits } from './permissions/previewed-call.ts'

// Steps of a run
export { createToolResultMessage } from './orchestration/create-messages.ts'
export { buildEffectiveTools, type EffectiveTools } from './orchestration/effective-tools.ts'
export { initializeAgentState } from './orchestration/initial-state.ts'
export { toJsonValue } from './orchestration/json-value.ts'
export { planStepProcessing, type StepPlan } from './orchestration/plan-step.ts'
export { type ScheduledCall, scheduleToolCalls } from './orchestration/schedule-tool-calls.ts'
export {
  shouldStopExecution,
  type StopConditions,
  type StopReason,
} from './orchestration/should-stop.ts'

// Usage and limits
export { type BudgetLimit, costOfCall, reachedLimit } from './budget/budget.ts'
export { addRunUsage, NO_USAGE, type RunUsage, runUsageOf } from './budget/run-usage.ts'
export { withWholeCalls } from './context/whole-calls.ts'

// Model adapters
export type { ModelErrorOptions } from './errors/model-error.ts'
export {
  type ContentLimits,
  contentLimits,
  ContentMeter,
  type ContentProblem,
  contentProblem,
  describeContentProblem,
  isStorableId,
} from './llm/content-limits.ts'
export type { StepCallbacks, ToolInputDelta, ToolSpec } from './llm/llm-adapter.ts'
export { isMessage, isModelOutput, sizeProblem } from './llm/message-shape.ts'
export { readStepResult } from './llm/read-step-result.ts'
export type { SchemaIssue, SchemaResult } from './tools/schema.ts'
export { toJsonSchema } from './tools/to-json-schema.ts'

// Errors
export { FleetError, type FleetErrorCode, type FleetErrorOptions } from './errors/fleet-error.ts'
export { renderToolError, type ToolError, toToolError } from './errors/to-tool-error.ts'

// Diffs
export { fileDiff, type FileDiff, type FileSides } from './modules/fs/edit/file-diff.ts'
export { createWorkTurn, type WorkTurn } from './modules/fs/edit/work-turn.ts'

// Logs
export { RateLimitedLogger, type RateLimitedLoggerOptions } from './logging/rate-limited-logger.ts'

// Redaction
export { redactText } from './redaction/redact-text.ts'
export { createRedaction, type Redaction, type RedactOptions } from './redaction/redaction.ts'

// Modules
export type { ModuleDefinition, ModuleTool, PolicyRejection } from './modules/define-module.ts'
export {
  FileVersions,
  type FileVersionsSnapshot,
  type KnownVersion,
} from './modules/fs/versions/file-versions.ts'
export {
  allCapabilityFlags,
  allModules,
  type AnyModule,
  type Capabilities,
  type ModuleName,
  workspaceModules,
} from './modules/list.ts'

// Workspaces of a session
export type { WorkspaceDescription } from './registry/describe.ts'
export type { WorkspaceState } from './registry/entry/state-machine.ts'
export {
  type HealthSignal,
  healthSignals,
  type HealthThresholds,
  type SessionWorkspaceHealth,
} from './registry/health-signals.ts'
export type {
  CloseMode,
  CloseReport,
  OwedDestroy,
  RegistryDeps,
  RegistryOptions,
} from './registry/registry-deps.ts'
export { WorkspaceRegistry } from './registry/workspace-registry.ts'
export { injectWorkspaceTools } from './tools/inject-workspace-tools.ts'
export { workspaceOrderKey } from './tools/tool-name.ts'
export { assertProvidersSupport } from './workspace/assert-providers-support.ts'
export { assertRuntimeSupportsWorkspaces } from './workspace/assert-runtime-supports-workspaces.ts'
export { hasMethod } from './workspace/has-method.ts'
export type {
  WorkspaceActivityEvent,
  WorkspaceCloseEvent,
  WorkspaceLifecycleEvent,
  WorkspaceLifecycleListener,
  WorkspaceOpenEvent,
  WorkspaceOwedEvent,
} from './workspace/lifecycle-listener.ts'
export { noopMetrics, type WorkspaceLabels, type WorkspaceMetrics } from './workspace/metrics.ts'

// State
export { assertStorable, assertStorableIds, type StorableWrite } from './state/assert-storable.ts'
export {
  type Page,
  type PageQuery,
  type PageRange,
  parseCount,
  parsePageQuery,
  toCursor,
} from './state/page-query.ts'
export type { RunWrite } from './state/run-write.ts'
export type {
  MessageDelivery,
  QueuedMessage,
  RequestAnswer,
  RequestKind,
  RequestPage,
  RequestPreview,
  RequestQuery,
  RequestResolution,
  SessionInteractionStore,
  SessionRequest,
  SessionSignals,
  StopRequest,
} from './state/session-requests.ts'
export type {
  CancelledTurns,
  EnqueuedTurn,
  TurnOptions,
  TurnQueuePort,
  TurnStatus,
} from './state/turn-queue.ts'
export type {
  MessageAppend,
  MessagePage,
  MessageQuery,
  NewSession,
  RunEnd,
  RunStart,
  SessionPage,
  SessionQuery,
  SessionStateStore,
  StateChange,
  StepCommit,
  StepStart,
  ToolCallCompletion,
  UnreadableSession,
  WorkspaceRefWrite,
} from './state/session-state-store.ts'
export type {
  BranchIntent,
  CheckpointSnapshot,
  CheckpointSnapshots,
  Released,
  ReleasedRef,
  RestoreOptions,
  SessionHistory,
  StoredSnapshot,
} from './state/session-history.ts'
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

// Streams
export { toChunkJson } from './stream/chunk-json.ts'
export type { ChunkType, SequencedChunk, StatePatch, StreamChunk } from './stream/chunks.ts'
export { cutChunk } from './stream/cut-chunk.ts'
export type { ReadChunks } from './stream/server-sent-event-source.ts'
export { parseLastEventId } from './stream/server-sent-event.ts'
export {
  createServerSentEventsResponse,
  type ServerSentEventsOptions,
} from './stream/server-sent-events.ts'
export type { StreamManager, StreamReaderOptions, StreamWriter } from './stream/stream-manager.ts'

// Tracing
export {
  failSpan,
  failSpanWith,
  type SpanFailure,
  type SpanStart,
  traced,
} from './telemetry/traced.ts'
export type {
  Span,
  SpanAttributes,
  SpanAttributeValue,
  SpanException,
  SpanOptions,
  Tracer,
} from './telemetry/tracer.ts'
