import type { Caller } from '../route/caller.ts'

/** The run of a session, for a hook that has to decide about it. */
export interface ExecutionState {
  /** Whether a run is under way. */
  readonly isExecuting: boolean
  /**
   * Lets the run stop after its step under way, and waits for that.
   * @param reason for the log
   */
  interrupt(reason?: string): Promise<void>
}

/** A turn that a client requests. */
export interface TurnRequest {
  /** The session of the turn. */
  readonly sessionId: string
  /** Name of the agent. */
  readonly agent: string
  /** Who requests it. */
  readonly caller: Caller
  /** The message of the user; absent for a resume without one. */
  readonly message?: string
  /** The run of the session. */
  readonly executionState: ExecutionState
}

/** A turn that has begun. */
export interface BegunTurn extends TurnRequest {
  /** Id of the run that has begun. */
  readonly runId: string | undefined
}

/**
 * Called around the turns that clients request. A `before…` hook that throws rejects the turn. A run
 * that is resumed after an eviction is no new turn. A session that is deleted while a hook decides is
 * not created again: the turn is a 404.
 */
export interface ServerHooks {
  /** Before a run starts: in a new session, or as the next turn of one. */
  beforeStart?(turn: TurnRequest): void | Promise<void>
  /** After a run has started. */
  afterStart?(turn: BegunTurn): void | Promise<void>
  /** Before a session that was interrupted or that failed is resumed. */
  beforeResume?(turn: TurnRequest): void | Promise<void>
  /** After a session has been resumed. */
  afterResume?(turn: BegunTurn): void | Promise<void>
}
