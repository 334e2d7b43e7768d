import type { SessionHost, SessionOutcome, SessionRequest } from '../protocol.ts'

/** What a run reaches, and what ends it from outside. */
export interface SeatHost extends Omit<SessionHost, 'isAborted'> {
  readonly signal: AbortSignal | undefined
}

/** A place where one session runs its code. */
export interface Seat {
  /** @throws what an operation on files fails with that code cannot catch. */
  run(request: SessionRequest, host: SeatHost): Promise<SessionOutcome>
  /** Ends the session, also in the middle of a run. Twice does nothing. */
  end(): void
}

/** Makes a place for a session; it is ready when it is first used. */
export type OpenSeat = () => Seat
