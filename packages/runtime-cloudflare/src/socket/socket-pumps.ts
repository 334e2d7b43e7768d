import type { Connection } from 'partyserver'
import type { Logger } from '@helix-agents/core'
import { type StreamManager, toChunkJson } from '@helix-agents/core/runtime'
import { isReading, send } from './socket-flow.ts'
import { noteState, stateOf } from './socket-state.ts'

export interface SocketPumpsParts {
  readonly streamManager: StreamManager
  readonly sessionId: () => string
  readonly sockets: () => Iterable<Connection>
  /** All of the object. */
  readonly countSockets: () => number
  /** Whether the session is still one that the client may see. */
  readonly mayRead: (socket: Connection) => Promise<boolean>
  readonly logger: Logger
}

interface Pump {
  readonly abort: AbortController
  /** A run has begun since it began to read. */
  looksAgain: boolean
}

/**
 * Sends the chunks of the session to its WebSockets. How far each one is stands in its state, so
 * that it continues there when the object was evicted or has slept.
 */
export class SocketPumps {
  readonly #parts: SocketPumpsParts
  readonly #pumps = new Map<string, Pump>()

  constructor(parts: SocketPumpsParts) {
    this.#parts = parts
  }

  /** For a new run, and for a new instance of the object. */
  startAll(): void {
    for (const socket of this.#parts.sockets()) this.start(socket)
  }

  start(socket: Connection): void {
    const running = this.#pumps.get(socket.id)
    if (running !== undefined) {
      running.looksAgain = true
      return
    }
    const pump = { abort: new AbortController(), looksAgain: false }
    this.#pumps.set(socket.id, pump)
    void this.#run(socket, pump)
  }

  stop(socket: Connection): void {
    this.#pumps.get(socket.id)?.abort.abort()
  }

  async #run(socket: Connection, pump: Pump): Promise<void> {
    try {
      do {
        pump.looksAgain = false
        await this.#send(socket, pump.abort.signal)
      } while (pump.looksAgain && !pump.abort.signal.aborted)
    } catch (err) {
      this.#parts.logger.warn({ err, sessionId: this.#parts.sessionId() }, 'WebSocket failed')
      socket.close(1011, 'the stream failed')
    } finally {
      this.#pumps.delete(socket.id)
    }
  }

  /**
   * All there is, to the end of the run; then says that it has ended. Stops when the client does not
   * read: what it missed is in the stream, or it gets a `stream_resync`.
   */
  async #send(socket: Connection, signal: AbortSignal): Promise<void> {
    const { streamManager, sessionId, mayRead, countSockets } = this.#parts
    if (!isReading(socket) || !(await mayRead(socket))) return
    const { next } = stateOf(socket)
    const from = next === undefined ? {} : { fromSequence: next }
    const chunks = await streamManager.read(sessionId(), { ...from, signal })
    if (chunks === null) return
    for await (const chunk of chunks) {
      send(socket, toChunkJson(chunk), countSockets)
      noteState(socket, { next: chunk.sequence + 1, hasEnded: false })
      if (!isReading(socket)) return
    }
    if (signal.aborted || stateOf(socket).hasEnded) return
    send(socket, '{"type":"end"}', countSockets)
    noteState(socket, { hasEnded: true })
  }
}
