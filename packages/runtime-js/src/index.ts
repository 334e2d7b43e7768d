export type { AgentHandle } from './executor/agent-handle.ts'
export { type BranchSeed, loadBranchSeed } from './executor/branch-session.ts'
export { findCheckpoint } from './session/find-checkpoint.ts'
export type {
  BranchOptions,
  DeleteOptions,
  EnqueueOptions,
  ExecuteInput,
  ExecuteOptions,
  JSAgentExecutorOptions,
  NewSessionOptions,
  ReleaseOptions,
  RestoreCheckpointOptions,
  ResumeOptions,
  ShutdownOptions,
} from './executor/executor-options.ts'
export type { DiffOptions, FileChange, FileSide, WorkspaceDiff } from './history/diff.ts'
export type { CheckpointFiles, ReadFilesOptions } from './history/read-files.ts'
export type { ImportReport, ImportSessionOptions } from './history/import/import-session.ts'
export type { MoveReport } from './history/fill-backend.ts'
export type { MoveOptions } from './history/move-workspace.ts'
export type { CollectReport } from './history/collect.ts'
export type { ResumeCheck } from './session/check-resume.ts'
export { JSAgentExecutor, type StartedRun } from './executor/js-agent-executor.ts'
export type { SendOptions, SentMessage } from './executor/send-message.ts'
export type { RespondResult } from './executor/respond.ts'
export type { RequestResponse } from './request/check-answer.ts'
export type { Recovery } from './executor/recover-session.ts'
export { endStream, type StreamEnd } from './stream/end-stream.ts'
export type { RunError, AgentResult } from './agent-result.ts'
export type { WorkspaceProviders, WorkspaceRegistryTuning } from './ports.ts'
