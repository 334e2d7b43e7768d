import type { SqlDatabase } from '../sql-database.ts'

/** A reader that has everything there is. */
export interface WaitingReader {
  /** There may be more. Called once for each time it waits. */
  wake(): void
}

/**
 * Notifies the readers of this process of a changed stream. A change of another process may be one
 * of any stream; the database is watched for it while a reader waits.
 */
export class StreamSignals {
  /** Those of a database, however many stream managers it has. */
  static readonly #known = new WeakMap<SqlDatabase, StreamSignals>()

  readonly #database: SqlDatabase
  readonly #waiting = new Map<number, Set<WaitingReader>>()
  #stopListening: (() => void) | undefined
  #replacements = 0

  static of(database: SqlDatabase): StreamSignals {
    const known = StreamSignals.#known.get(database)
    if (known !== undefined) return known
    const made = new StreamSignals(database)
    StreamSignals.#known.set(database, made)
    return made
  }

  private constructor(database: SqlDatabase) {
    this.#database = database
  }

  /**
   * Rises when what a reader holds may be out of date: a run began, a stream was deleted, chunks were
   * dropped. Chunks that were only added leave it valid.
   */
  get replacements(): number {
    return this.#replacements
  }

  /** Wakes a reader at the next change of its stream. */
  wait(stream: number, reader: WaitingReader): void {
    this.#stopListening ??= this.#database.onForeignWrite((streams, replaced) => {
      if (streams === undefined || replaced === undefined || replaced.length > 0) this.replaced()
      this.changed(streams ?? [...this.#waiting.keys()])
    })
    const readers = this.#waiting.get(stream) ?? new Set()
    this.#waiting.set(stream, readers.add(reader))
  }

  forget(stream: number, reader: WaitingReader): void {
    const readers = this.#waiting.get(stream)
    readers?.delete(reader)
    if (readers?.size === 0) this.#waiting.delete(stream)
    this.#listenOnlyForSomebody()
  }

  /** What readers hold may be out of date: that is committed. */
  replaced(): void {
    this.#replacements++
  }

  /** The streams were changed by this process, and that is committed. */
  changed(streams: Iterable<number>): void {
    for (const stream of streams) this.#wake(stream)
    this.#listenOnlyForSomebody()
  }

  #wake(stream: number): void {
    const readers = this.#waiting.get(stream) ?? []
    this.#waiting.delete(stream)
    for (const reader of readers) reader.wake()
  }

  #listenOnlyForSomebody(): void {
    if (this.#waiting.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
  }
}
