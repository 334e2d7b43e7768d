import type { SequencedChunk, StreamReaderOptions } from '@helix-agents/core'
import { endAbandonedStream } from './end-abandoned-stream.ts'
import type { RunServices } from './run/run-services.ts'

/** Reads a stream that is opened with the first chunk asked for; one that is unknown is empty. */
export function readStream(
  services: RunServices,
  sessionId: string,
  options?: StreamReaderOptions,
): AsyncIterable<SequencedChunk> {
  const open: OpenStream = async () => {
    const chunks = await services.streamManager.read(sessionId, options)
    if (chunks === null) return null
    const release = await endAbandonedStream(services, sessionId)
    return { reader: chunks[Symbol.asyncIterator](), release }
  }
  return { [Symbol.asyncIterator]: () => new LazyReader(open) }
}

interface OpenReader {
  readonly reader: AsyncIterator<SequencedChunk>
  readonly release: () => void
}

type OpenStream = () => Promise<OpenReader | null>

class LazyReader implements AsyncIterator<SequencedChunk> {
  readonly #open: OpenStream
  #opened: OpenReader | undefined

  constructor(open: OpenStream) {
    this.#open = open
  }

  next(): Promise<IteratorResult<SequencedChunk>> {
    return this.#opened === undefined ? this.#first() : this.#next(this.#opened)
  }

  async return(): Promise<IteratorResult<SequencedChunk>> {
    this.#opened?.release()
    await this.#opened?.reader.return?.()
    return { done: true, value: undefined }
  }

  async #first(): Promise<IteratorResult<SequencedChunk>> {
    const opened = await this.#open()
    if (opened === null) return { done: true, value: undefined }
    if (this.#opened !== undefined) opened.release()
    this.#opened ??= opened
    return this.#next(this.#opened)
  }

  async #next({ reader, release }: OpenReader): Promise<IteratorResult<SequencedChunk>> {
    const result = await reader.next()
    if (result.done === true) release()
    return result
  }
}
