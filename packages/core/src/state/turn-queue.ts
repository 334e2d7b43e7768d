import type { UserMessage } from '../llm/messages.ts'
import type { SessionLabels } from './session-state.ts'

/** How a turn is queued. The labels and the state are those of a session that the turn creates. */
export interface TurnOptions extends SessionLabels {
  /** The session of the turn; it is created when there is none. Default: a new random id. */
  readonly sessionId?: string
  /** A UUID: the same turn again changes nothing, so that a call can be repeated. Default: a random one. */
  readonly turnId?: string
  /** Whose turns share a limit; a short text. Default: no limit. */
  readonly tenant?: string
  /** A whole number of 32 bits; turns with a higher one start first. Default: 0. */
  readonly priority?: number
  /** The turn does not start before. Default: now. */
  readonly startAfter?: Date
  /** Fields of the custom state. Default: those of the agent. */
  readonly state?: Readonly<Record<string, unknown>>
}

/** A turn that is stored. */
export interface EnqueuedTurn {
  readonly sessionId: string
  readonly turnId: string
}

/** How far a turn is. */
export interface TurnStatus {
  /** `queued`: it waits for a worker, for the first time or again. `ended`: also when it is unknown. */
  readonly state: 'queued' | 'active' | 'ended'
  /** Why no worker could start it; absent otherwise. */
  readonly rejected?: string
  /** It was aborted before a worker began it, or between two of them. */
  readonly isAborted?: true
}

/** What became of the turns of a session that were to be cancelled. */
export interface CancelledTurns {
  /** How many waited, and never run. */
  readonly cancelled: number
  /** Whether one of these had been with a worker that died or stopped. */
  readonly begun: boolean
  /** Whether a worker has one of them. */
  readonly active: boolean
}

/** Turns that wait for a worker, in storage that outlives processes. */
export interface TurnQueuePort {
  /** Stores a turn, wholly or not at all. */
  enqueue(
    agent: { readonly name: string },
    message: string | UserMessage,
    options?: TurnOptions,
  ): Promise<EnqueuedTurn>
  turnStatus(turnId: string): Promise<TurnStatus>
  /** Cancels the turns of a session that wait, or one of them; none that a worker has. */
  cancelTurns(sessionId: string, turnId?: string): Promise<CancelledTurns>
}
