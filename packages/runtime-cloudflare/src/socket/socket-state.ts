import type { Connection } from 'partyserver'
import { type Caller, isCaller } from '../route/caller.ts'

/** What is kept with a WebSocket while its object is not in memory. */
export interface SocketState {
  /** Absent when the object was called past `routeAgentRequest`. */
  readonly agent?: string
  readonly caller: Caller
  /** The sequence number it gets next; absent before its first chunk. */
  readonly next?: number
  /** It was told that the run has ended, or has not seen any of it. */
  readonly hasEnded: boolean
  /** Characters that were sent since the client was last asked whether it has read so far. */
  readonly sent?: number
  /** Questions that it has not answered, the oldest first. */
  readonly unanswered?: readonly string[]
}

/** What stands in the state of a socket that this release has not accepted: nothing. */
const UNKNOWN: SocketState = { caller: {}, hasEnded: true }

export function stateOf({ state }: Connection): SocketState {
  return isSocketState(state) ? state : UNKNOWN
}

export function noteState(socket: Connection, change: Partial<SocketState>): void {
  socket.setState({ ...stateOf(socket), ...change })
}

function isSocketState(value: unknown): value is SocketState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'caller' in value &&
    isCaller(value.caller) &&
    'hasEnded' in value &&
    typeof value.hasEnded === 'boolean'
  )
}
