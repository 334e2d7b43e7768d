import type { SequencedChunk, StreamReaderOptions } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { SessionWatch } from './session-watch.ts'

/** Reads a stream that is opened with the first chunk asked for; one that is unknown is empty. */
export function readStream(
  services: RunServices,
  sessionId: string,
  options?: StreamReaderOptions,
): AsyncIterable<SequencedChunk> {
  const open: OpenStream = async () => {
    const watch = new SessionWatch(services, sessionId)
    const given = options?.signal
    const signal = given === undefined ? watch.signal : AbortSignal.any([given, watch.signal])
    const chunks = await services.streamManager.read(sessionId, { ...options, signal })
    if (chunks === null) return null
    await watch.check()
    return { reader: chunks[Symbol.asyncIterator](), watch }
  }
  return { [Symbol.asyncIterator]: () => new LazyReader(open) }
}

interface OpenReader {
  readonly reader: AsyncIterator<SequencedChunk>
  readonly watch: SessionWatch
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
    this.#opened?.watch.release()
    await this.#opened?.reader.return?.()
    return { done: true, value: undefined }
  }

  async #first(): Promise<IteratorResult<SequencedChunk>> {
    const opened = await this.#open()
    if (opened === null) return { done: true, value: undefined }
    if (this.#opened !== undefined) opened.watch.release()
    this.#opened ??= opened
    return this.#next(this.#opened)
  }

  async #next({ reader, watch }: OpenReader): Promise<IteratorResult<SequencedChunk>> {
    const received = watch.wait()
    try {
      const result = await reader.next()
      if (result.done === true) watch.release()
      return result
    } catch (error) {
      watch.release()
      throw error
    } finally {
      received()
    }
  }
}
