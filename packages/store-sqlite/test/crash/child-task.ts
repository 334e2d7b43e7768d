import type { Sabotage } from './watched-stores.ts'

/** What a child is to do. */
export interface ChildTask {
  readonly database: string
  readonly tmpdirRoot: string
  readonly effectLog: string
  readonly sessionId: string
  /** Steps of the session. */
  readonly steps: number
  /**
   * Its clock runs ahead by so much. A process that was killed keeps its session until its lease
   * runs out; a successor that lives later by more than the lease need not wait.
   */
  readonly clockAheadMs: number
  /** Default: that of the executor. */
  readonly leaseMs?: number
  /** Tries again while the session is held. Default: ends. */
  readonly insists?: boolean
  /** Kills itself at its n-th point: the same moment every time. */
  readonly dieAtPoint?: number
  /** Stops at its n-th point, and waits there for whoever kills it. */
  readonly holdAtPoint?: number
  /** Kills itself as soon as a call of a tool has had its effect, before anything is stored of it. */
  readonly diesInCall?: boolean
  readonly sabotage?: Sabotage
}

/** What a child says, one JSON a line; `.` for a point. */
export type ChildReport =
  | { readonly type: 'ready' | 'working' }
  | { readonly type: 'refused'; readonly code: string }
  | { readonly type: 'ended'; readonly status: string; readonly error?: string | undefined }
