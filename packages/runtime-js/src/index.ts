export type { AgentHandle } from './agent-handle.ts'
export { type BranchSeed, loadBranchSeed } from './branch-session.ts'
export type {
  BranchOptions,
  DeleteOptions,
  ExecuteInput,
  ExecuteOptions,
  JSAgentExecutorOptions,
  ResumeOptions,
  ShutdownOptions,
  WorkspaceProviders,
  WorkspaceRegistryTuning,
} from './executor-options.ts'
export { JSAgentExecutor, type ResumeCheck } from './js-agent-executor.ts'
export type { Recovery } from './recover-session.ts'
export { endStream, type StreamEnd } from './run/end-stream.ts'
export type { RunError, AgentResult } from './agent-result.ts'
