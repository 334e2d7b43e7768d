import { type Clock, systemClock } from '../time/clock.ts'
import { type ReadChunks, ServerSentEventSource } from './server-sent-event-source.ts'

const DEFAULT_HEARTBEAT_MS = 15_000
const DEFAULT_RETRY_MS = 2_000

/** Options of server-sent events; times in milliseconds. */
export interface ServerSentEventsOptions {
  /** Time without a chunk after which a comment keeps the connection open. Default 15 000. */
  readonly heartbeatMs?: number
  /** How long a client waits before it connects again. Default 2 000. */
  readonly retryMs?: number
  /** Ends the events after a whole one, without `end`: clients connect again. For a shutdown. */
  readonly signal?: AbortSignal
  /** Called once when nothing is read any more: after the last event, or when the client has left. */
  readonly onEnd?: () => void
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
}

/**
 * The chunks of a stream as the body of a `text/event-stream` response. Chunks are read as the
 * client takes them; a client that leaves ends the reading. After the last chunk comes the event
 * `end`, so that a client can distinguish it from a lost connection and does not reconnect. A
 * stream that fails breaks the body between two events.
 */
export function createServerSentEvents(
  read: ReadChunks,
  options: ServerSentEventsOptions = {},
): ReadableStream<Uint8Array> {
  const source = new ServerSentEventSource({
    read,
    heartbeatMs: options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
    retryMs: options.retryMs ?? DEFAULT_RETRY_MS,
    signal: options.signal,
    onEnd: options.onEnd,
    clock: options.clock ?? systemClock,
  })
  // Nothing is read ahead: the stream that is read has a buffer already.
  return new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
}

/** The response to a client that asks for the events of a stream. */
export function createServerSentEventsResponse(
  read: ReadChunks,
  options: ServerSentEventsOptions = {},
): Response {
  return new Response(createServerSentEvents(read, options), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Proxies of the nginx family collect a response before they pass it on, unless a header forbids it.
      'x-accel-buffering': 'no',
    },
  })
}
