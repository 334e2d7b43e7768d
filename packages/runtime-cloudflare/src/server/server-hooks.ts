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

/** A turn that somebody asks for. */
export interface TurnRequest {
  readonly sessionId: string
  /** Name of the agent. */
  readonly agent: string
  readonly caller: Caller
  /** What the user says; absent for a resume without a message. */
  readonly message?: string
  readonly executionState: ExecutionState
}

/** A turn that has begun. */
export interface BegunTurn extends TurnRequest {
  readonly runId: string | undefined
}

/**
 * Called around the turns that clients ask for. A `before…` hook that throws refuses the turn.
 * What goes on after an eviction is no new turn. A session that was deleted while a hook decides is
 * not brought back: the turn is a 404.
 */
export interface ServerHooks {
  /** Before a run starts: in a new session, or as the next turn of one. */
  beforeStart?(turn: TurnRequest): void | Promise<void>
  afterStart?(turn: BegunTurn): void | Promise<void>
  /** Before a session that was interrupted or that failed goes on. */
  beforeResume?(turn: TurnRequest): void | Promise<void>
  afterResume?(turn: BegunTurn): void | Promise<void>
}
