import type { SequencedChunk, StreamChunk } from '@helix-agents/core'

/** Names of the run that writes, for chunks the stream makes itself. */
export interface StreamRun {
  readonly agentId: string
  readonly agentType: string
}

/** One reader as its stream sees it: told that there may be something to take. */
export interface WaitingReader {
  wake(): void
}

/**
 * The chunks of the current run in a ring, and the readers that wait for more. A run reserves the
 * sequence number before its first chunk, so that the `stream_resync` which tells of the run has
 * one of its own.
 */
export class MemoryStream {
  readonly #capacity: number
  /** The chunk with sequence s is at `(s - #runStart) % #capacity`. */
  #ring: SequencedChunk[] = []
  #runStart = 1
  #next = 1
  #run: StreamRun
  #open = true
  #lastTimestamp = 0
  readonly #waiting = new Set<WaitingReader>()

  constructor(capacity: number, run: StreamRun) {
    this.#capacity = capacity
    this.#run = run
  }

  /** The sequence number of the first chunk that a new reader gets. */
  get runStart(): number {
    return this.#runStart
  }

  /** The run that writes, or wrote last. */
  get agentId(): string {
    return this.#run.agentId
  }

  /** Whether the current run, of this writer, goes on. */
  isWrittenBy(run: StreamRun): boolean {
    return this.#open && this.#run === run
  }

  startRun(run: StreamRun): void {
    this.#ring = []
    this.#next++
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
    const sequence = this.#next++
    this.#ring[(sequence - this.#runStart) % this.#capacity] = { ...chunk, sequence }
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
    if (position < this.#firstKept()) return this.#resync('buffer-overrun')
    return this.#ring[(position - this.#runStart) % this.#capacity] ?? 'end'
  }

  /** Wakes a reader once, at the next change. */
  whenChanged(reader: WaitingReader): void {
    this.#waiting.add(reader)
  }

  forget(reader: WaitingReader): void {
    this.#waiting.delete(reader)
  }

  #firstKept(): number {
    return Math.max(this.#runStart, this.#next - this.#capacity)
  }

  #resync(reason: 'new-run' | 'buffer-overrun'): SequencedChunk {
    const nextSequence = this.#firstKept()
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
