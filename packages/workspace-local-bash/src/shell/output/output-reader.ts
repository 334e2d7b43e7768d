import { Socket } from 'node:net'

const BUFFER_BYTES = 64 * 1024

/**
 * Takes a piece of output; the memory is used again afterwards. A promise stops the reading,
 * and with it, once the pipe is full, the command, until it settles.
 */
export type OutputSink = (piece: Uint8Array) => Promise<void> | void

/** Reads a pipe to its end with one buffer. */
export class OutputReader {
  readonly #socket: Socket
  readonly #ended = Promise.withResolvers<void>()
  #isBusy = false
  #lastMs = performance.now()

  /** @param fd Reading end of a pipe; closed at the end. */
  constructor(fd: number, sink: OutputSink) {
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: {
        buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES),
        callback: (length, buffer) => this.#take(sink, buffer.subarray(0, length)),
      },
    })
    // A pipe that breaks has ended; what was read stays.
    this.#socket.on('error', () => this.#ended.resolve())
    this.#socket.on('close', () => this.#ended.resolve())
    this.#socket.on('end', () => this.#ended.resolve())
  }

  /** Settles when the last writer has closed the pipe, or after `stop`. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Time since the last piece was handled; 0 while one is. */
  get idleMs(): number {
    return this.#isBusy ? 0 : performance.now() - this.#lastMs
  }

  /** Stops reading, whoever still holds the other end. */
  stop(): void {
    this.#socket.destroy()
  }

  #take(sink: OutputSink, piece: Uint8Array): boolean {
    const waiting = sink(piece)
    this.#lastMs = performance.now()
    if (waiting === undefined) return true
    this.#isBusy = true
    void this.#resumeAfter(waiting)
    return false
  }

  async #resumeAfter(waiting: Promise<void>): Promise<void> {
    await waiting
    this.#isBusy = false
    this.#lastMs = performance.now()
    if (!this.#socket.destroyed) this.#socket.resume()
  }
}
