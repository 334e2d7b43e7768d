import type { SequencedChunk, StreamManager, StreamReaderOptions } from '@helix-agents/core'

/** Reads a stream that is opened with the first chunk asked for; one that is unknown is empty. */
export function readStream(
  streams: StreamManager,
  streamId: string,
  options?: StreamReaderOptions,
): AsyncIterable<SequencedChunk> {
  return { [Symbol.asyncIterator]: () => new LazyReader(() => streams.read(streamId, options)) }
}

class LazyReader implements AsyncIterator<SequencedChunk> {
  readonly #open: () => Promise<AsyncIterable<SequencedChunk> | null>
  #reader: AsyncIterator<SequencedChunk> | undefined

  constructor(open: () => Promise<AsyncIterable<SequencedChunk> | null>) {
    this.#open = open
  }

  next(): Promise<IteratorResult<SequencedChunk>> {
    return this.#reader === undefined ? this.#first() : this.#reader.next()
  }

  async return(): Promise<IteratorResult<SequencedChunk>> {
    await this.#reader?.return?.()
    return { done: true, value: undefined }
  }

  async #first(): Promise<IteratorResult<SequencedChunk>> {
    const chunks = await this.#open()
    if (chunks === null) return { done: true, value: undefined }
    this.#reader ??= chunks[Symbol.asyncIterator]()
    return this.#reader.next()
  }
}
