import type { Agent, UserMessage, WorkspaceAccess } from '@helix-agents/core'
import type { SessionLabels } from '@helix-agents/core/runtime'
import type { ChunkForward } from '../stream/chunk-writer.ts'
import type { Claim } from '../lease/lease.ts'
import type { Meter } from './meter.ts'
import type { RunControl } from './run-control.ts'
import type { ToolSet } from '../call/tool-sets.ts'

/** What a sub-agent gets from its parent. */
export interface ParentRun {
  readonly sessionId: string
  readonly claim: Claim
  readonly forward: ChunkForward
  readonly meter: Meter
  /** Only for a sub-agent that shares them. */
  readonly workspaces?: WorkspaceAccess
}

/** A run to be started. */
export interface LaunchRequest {
  readonly agent: Agent
  readonly sessionId: string
  readonly control: RunControl
  readonly toolSet: ToolSet
  /** `execute` makes the session when needed; `resume` goes on with the step under way. */
  readonly mode: 'execute' | 'resume'
  readonly messages: readonly UserMessage[]
  /** Replaces these fields of the custom state. */
  readonly state?: Readonly<Record<string, unknown>>
  readonly labels?: SessionLabels
  /** Default: as the session was told before. */
  readonly keepWorkspaces?: boolean | undefined
  readonly parent?: ParentRun
}
