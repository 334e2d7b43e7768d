import type { Connection } from 'partyserver'
import { noteState, stateOf } from './socket-state.ts'

/**
 * The platform takes whatever is sent over a WebSocket and does not tell how much of it waits in
 * memory. So a client is asked now and then whether it has read so far, and returns the question.
 */
const MAX_ASK_AFTER = 256 * 1024
const MIN_ASK_AFTER = 16 * 1024
/**
 * Shared out among the clients of an object when one is asked, in characters of up to 3 bytes. Those
 * that came first have more: together it is up to four times as much for 100 of them.
 */
const MAX_WAITING = 4 * 1024 * 1024
/** With so many questions open nothing more is sent. */
const MAX_UNANSWERED = 2

/** Whether the client has read enough to be sent more. */
export function isReading(socket: Connection): boolean {
  return (stateOf(socket).unanswered ?? []).length < MAX_UNANSWERED
}

/**
 * Sends a text; a question follows it when it is time for one: the more sockets, the sooner.
 * @param countSockets how many sockets the object has
 */
export function send(socket: Connection, text: string, countSockets: () => number): void {
  socket.send(text)
  const { sent = 0, unanswered = [] } = stateOf(socket)
  const now = sent + text.length
  if (now < MIN_ASK_AFTER || now < askAfter(countSockets())) return noteState(socket, { sent: now })
  // Nobody can answer it who has not read it.
  const id = crypto.randomUUID()
  noteState(socket, { sent: 0, unanswered: [...unanswered, id] })
  socket.send(JSON.stringify({ type: 'ack', id }))
}

function askAfter(sockets: number): number {
  const share = MAX_WAITING / (MAX_UNANSWERED * Math.max(1, sockets))
  return Math.min(MAX_ASK_AFTER, Math.max(MIN_ASK_AFTER, share))
}

/** The client has read up to a question; false for one that is not open. */
export function noteAnswer(socket: Connection, id: string): boolean {
  const { unanswered = [] } = stateOf(socket)
  const at = unanswered.indexOf(id)
  if (at !== -1) noteState(socket, { unanswered: unanswered.slice(at + 1) })
  return at !== -1
}
