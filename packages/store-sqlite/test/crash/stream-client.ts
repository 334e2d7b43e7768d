import type { SequencedChunk, StreamReaderOptions } from '@helix-agents/core/runtime'

/** How long the end of a stream may take when its run is over. */
const PATIENCE_MS = 2000

/** A server that the client reaches: the handle of its session. */
export interface StreamSource {
  stream(options: StreamReaderOptions): AsyncIterable<SequencedChunk>
}

/**
 * Watches a session as a browser would: it remembers the last number, and each new connection
 * asks for what comes after it.
 */
export class StreamClient {
  readonly chunks: SequencedChunk[] = []
  #connection: { readonly end: AbortController; readonly reading: Promise<void> } | undefined

  connect(source: StreamSource): void {
    const end = new AbortController()
    this.#connection = { end, reading: this.#read(source, end.signal) }
  }

  /** Hangs up. @throws what the stream threw. */
  async disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    connection?.end.abort()
    await connection?.reading
  }

  /** Reads on to the end of the run; false when the stream does not end. */
  async readToEnd(source: StreamSource): Promise<boolean> {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    await this.#read(source, signal)
    return !signal.aborted
  }

  async #read(source: StreamSource, signal: AbortSignal): Promise<void> {
    const last = this.chunks.at(-1)?.sequence
    const from = last === undefined ? {} : { fromSequence: last + 1 }
    for await (const chunk of source.stream({ ...from, signal })) this.chunks.push(chunk)
  }
}
