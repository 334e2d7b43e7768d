import type { Logger } from '@helix-agents/core'
import { dropUnlinked } from '../content/release-content.ts'
import { asking } from './object-store.ts'
import { numberOf, optionalNumberOf, textOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { FileStoreBucket } from '../ports.ts'
import type { SharedState } from '../shared-state.ts'

/** What a collection did. */
export interface CollectionReport {
  /** Contents removed that no file referred to, such as those of a write that was cut short. */
  readonly contents: number
  /** Objects deleted from the bucket. */
  readonly objects: number
  /** Objects whose deletion failed. The next collection retries them, and all that were due after them. */
  readonly failed: number
  /** When the next collection is due, in ms since the epoch. Undefined: there is none. */
  readonly nextAt: number | undefined
}

export interface CollectorOptions {
  readonly database: Database
  readonly bucket: FileStoreBucket | undefined
  readonly shared: SharedState
  readonly graceMs: number
  readonly logger: Logger
}

/** Keys of one delete; R2 takes 1,000. */
const BATCH = 500
/** After a failed delete, so long until the next try. */
const RETRY_MS = 60_000

/**
 * Removes what nothing refers to: contents that were never committed, then objects. The only await
 * is the delete; before it the rows say `deleting`, and nothing refers to such an object again. A
 * delete that is cut short is repeated, and one that lands late meets no newer object.
 */
export class Collector {
  readonly #options: CollectorOptions
  #running: Promise<CollectionReport> | undefined

  constructor(options: CollectorOptions) {
    this.#options = options
  }

  /**
   * When something is due, in ms since the epoch. One statement. What is retained counts as well: the
   * isolate that retains it may end without releasing it.
   */
  nextAt(nowMs: number): number | undefined {
    const row = this.#options.database.get(
      `SELECT min(due_ms) AS due FROM (
        SELECT min(due_ms) AS due_ms FROM helix_fs_objects WHERE refs = 0 AND ?
        UNION ALL SELECT CASE WHEN content IN (SELECT value FROM json_each(?)) THEN ? ELSE 0 END
          FROM helix_fs_unlinked
        UNION ALL SELECT 0 FROM helix_fs_removals
      )`,
      // Without a bucket nothing can be done about its objects.
      this.#options.bucket === undefined ? 0 : 1,
      JSON.stringify(this.#options.shared.contents.ids()),
      nowMs + this.#options.graceMs,
    )
    return row === undefined ? undefined : optionalNumberOf(row, 'due')
  }

  /** Calls at once share one collection. */
  collect(nowMs: number): Promise<CollectionReport> {
    this.#running ??= this.#collect(nowMs).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #collect(nowMs: number): Promise<CollectionReport> {
    const contents = this.#dropUnlinked(nowMs)
    const { bucket } = this.#options
    const counts =
      bucket === undefined ? { objects: 0, failed: 0 } : await this.#deleteObjects(bucket, nowMs)
    return { contents, ...counts, nextAt: this.nextAt(nowMs) }
  }

  async #deleteObjects(
    bucket: FileStoreBucket,
    nowMs: number,
  ): Promise<{ readonly objects: number; readonly failed: number }> {
    let objects = 0
    for (let batch = this.#mark(nowMs); batch.length > 0; batch = this.#mark(nowMs)) {
      const keys = batch.map((object) => object.key)
      try {
        await asking(() => bucket.delete(keys))
      } catch (error) {
        this.#options.logger.warn(
          { error, objects: keys.length },
          'file store: deleting objects failed',
        )
        this.#postpone(nowMs)
        return { objects, failed: keys.length }
      }
      this.#forget(batch)
      objects += keys.length
    }
    return { objects, failed: 0 }
  }

  /** Contents of an isolate that has ended: none in this one is retained. */
  #dropUnlinked(nowMs: number): number {
    const { database, shared, graceMs } = this.#options
    const context = { database, collectionGraceMs: graceMs, now: () => nowMs }
    const unlinked = database
      .all('SELECT content FROM helix_fs_unlinked')
      .map((row) => numberOf(row, 'content'))
      .filter((content) => !shared.contents.has(content))
    for (const content of unlinked) database.transaction(() => dropUnlinked(context, content))
    return unlinked.length
  }

  /** Takes objects that are due out of use. */
  #mark(nowMs: number): readonly { readonly id: number; readonly key: string }[] {
    const { database, shared } = this.#options
    return database.transaction(() => {
      const rows = database.all(
        `UPDATE helix_fs_objects SET state = 'deleting' WHERE id IN (
          SELECT id FROM helix_fs_objects WHERE refs = 0 AND due_ms <= ?
            AND id NOT IN (SELECT value FROM json_each(?))
          ORDER BY due_ms LIMIT ${BATCH}
        ) RETURNING id, key`,
        nowMs,
        JSON.stringify(shared.objects.ids()),
      )
      return rows.map((row) => ({ id: numberOf(row, 'id'), key: textOf(row, 'key') }))
    })
  }

  #forget(batch: readonly { readonly id: number }[]): void {
    this.#options.database.run(
      `DELETE FROM helix_fs_objects WHERE state = 'deleting' AND refs = 0
        AND id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(batch.map((object) => object.id)),
    )
  }

  /** All that is due waits for the next try. */
  #postpone(nowMs: number): void {
    this.#options.database.run(
      'UPDATE helix_fs_objects SET due_ms = ? WHERE refs = 0 AND due_ms <= ?',
      nowMs + RETRY_MS,
      nowMs,
    )
  }
}
