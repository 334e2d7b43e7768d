import type { SequencedChunk, StreamChunk } from '@helix-agents/core/runtime'
import { boundChunk } from './bounded-chunk.ts'
import type { StreamBounds } from './stream-bounds.ts'

/** Share of the bytes that is dropped at once, so that not every write drops something. */
const BATCH_SHARE = 8

/** Names of the run that writes, for chunks the stream makes itself. */
export interface StreamRun {
  readonly agentId: string
  readonly agentType: string
}

interface Kept {
  readonly chunk: SequencedChunk
  readonly bytes: number
}

/** A reader as its stream sees it: notified when there may be something to read. */
export interface WaitingReader {
  wake(): void
}

/**
 * The chunks of the current run in a ring, and the readers that wait for more. A run reserves the
 * sequence number before its first chunk, so that the `stream_resync` which announces the run has
 * one of its own.
 */
export class MemoryStream {
  readonly #bounds: StreamBounds
  /** The chunk with sequence s is at `(s - #runStart) % maxBufferedChunks`. */
  #ring: (Kept | undefined)[] = []
  /** The oldest chunk that is kept. */
  #first = 1
  #bytes = 0
  #runStart = 1
  #next = 1
  #run: StreamRun
  #open = true
  #lastTimestamp = 0
  readonly #waiting = new Set<WaitingReader>()

  constructor(bounds: StreamBounds, run: StreamRun) {
    this.#bounds = bounds
    this.#run = run
  }

  /** The sequence number of the first chunk that a new reader gets. */
  get runStart(): number {
    return this.#runStart
  }

  /** Bytes of the chunks that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** The run that writes, or wrote last. */
  get agentId(): string {
    return this.#run.agentId
  }

  /** Whether the current run is of this writer and not ended. */
  isWrittenBy(run: StreamRun): boolean {
    return this.#open && this.#run === run
  }

  startRun(run: StreamRun): void {
    this.dropChunks()
    this.#next++
    this.#first = this.#next
    this.#runStart = this.#next
    this.resumeRun(run)
  }

  resumeRun(run: StreamRun): void {
    this.#run = run
    this.#open = true
    this.#wakeAll()
  }

  endRun(last?: StreamChunk): void {
    if (this.#open && last !== undefined) this.write(last)
    this.#open = false
    this.#wakeAll()
  }

  write(chunk: StreamChunk): void {
    const { maxBufferedChunks, maxBufferedBytes, maxChunkBytes } = this.#bounds
    const bounded = boundChunk(chunk, maxChunkBytes)
    if (this.#next - this.#first >= maxBufferedChunks) this.#dropFirst()
    const sequence = this.#next++
    const { bytes } = bounded
    this.#ring[this.#placeOf(sequence)] = { chunk: { ...bounded.chunk, sequence }, bytes }
    this.#bytes += bytes
    if (this.#bytes > maxBufferedBytes) this.#dropDownTo(maxBufferedBytes)
    this.#lastTimestamp = chunk.timestamp
    if (this.#waiting.size > 0) this.#wakeAll()
  }

  /** What a reader at a position gets; `wait` when that is still to come. */
  take(position: number): SequencedChunk | 'wait' | 'end' {
    if (position < this.#runStart) {
      // Nothing was ever written before the first sequence number.
      return this.#runStart > 1 ? this.#resync('new-run') : this.take(this.#runStart)
    }
    if (position > this.#next) return this.#resync('new-run')
    if (position === this.#next) return this.#open ? 'wait' : 'end'
    if (position < this.#first) return this.#resync('buffer-overrun')
    return this.#ring[this.#placeOf(position)]?.chunk ?? 'end'
  }

  /** Wakes a reader once, at the next change. */
  whenChanged(reader: WaitingReader): void {
    this.#waiting.add(reader)
  }

  forget(reader: WaitingReader): void {
    this.#waiting.delete(reader)
  }

  /** Drops all chunks; a reader that continues gets a `stream_resync`. */
  dropChunks(): void {
    this.#ring = []
    this.#bytes = 0
    this.#first = this.#next
  }

  #placeOf(sequence: number): number {
    return (sequence - this.#runStart) % this.#bounds.maxBufferedChunks
  }

  #dropFirst(): void {
    const place = this.#placeOf(this.#first)
    this.#bytes -= this.#ring[place]?.bytes ?? 0
    this.#ring[place] = undefined
    this.#first++
  }

  /** The newest chunk always fits. */
  #dropDownTo(maxBytes: number): void {
    const kept = maxBytes - Math.floor(maxBytes / BATCH_SHARE)
    while (this.#bytes > kept && this.#first < this.#next - 1) this.#dropFirst()
  }

  #resync(reason: 'new-run' | 'buffer-overrun'): SequencedChunk {
    const nextSequence = this.#first
    return {
      ...this.#run,
      type: 'stream_resync',
      reason,
      nextSequence,
      sequence: nextSequence - 1,
      timestamp: this.#lastTimestamp,
    }
  }

  #wakeAll(): void {
    const readers = [...this.#waiting]
    this.#waiting.clear()
    for (const reader of readers) reader.wake()
  }
}
