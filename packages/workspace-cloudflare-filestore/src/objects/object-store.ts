import { WorkspaceFailedError } from '@helix-agents/core'
import { numberOf, textOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { FileStoreBucket, ObjectBody, ObjectRange } from '../ports.ts'
import type { SharedState } from '../shared-state.ts'
import { hashOf, objectKey } from './object-keys.ts'

export interface ObjectStoreOptions {
  readonly database: Database
  readonly bucket: FileStoreBucket
  readonly shared: SharedState
  /** Starts every key. */
  readonly prefix: string
  /** Public id of the namespace. */
  readonly namespace: string
  readonly graceMs: number
  now(): number
  onGarbage(): void
}

/** An object that is in the bucket and stays there until it is released. */
export interface RetainedObject {
  readonly id: number
  readonly size: number
  release(): void
}

interface Reservation {
  readonly id: number
  readonly key: string
  /** It was put before, so it should be there. */
  readonly isStored: boolean
}

/**
 * Immutable objects of one namespace, found by the hash of their content.
 *
 * `store` awaits, in this order: the hash, the head of an object that should be there, the put.
 * Before the put a row says that the object may exist; what is not referred to afterwards, because
 * of an error or the end of the isolate, is collected by that row.
 */
export class ObjectStore {
  readonly #options: ObjectStoreOptions

  constructor(options: ObjectStoreOptions) {
    this.#options = options
  }

  /** Puts content into the bucket unless it is there. The bytes must not change until this resolves. */
  async store(bytes: Uint8Array<ArrayBuffer>): Promise<RetainedObject> {
    const { shared } = this.#options
    const hash = await hashOf(bytes)
    const reserved = this.#reserve(hash)
    shared.objects.retain(reserved.id)
    const release = (): void => void shared.objects.release(reserved.id)
    try {
      this.#options.onGarbage()
      await this.#ensureStored(reserved, { bytes, hash })
      return { id: reserved.id, size: bytes.length, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** The content of an object, or undefined when it is missing. */
  async read(key: string, range?: ObjectRange): Promise<ObjectBody | undefined> {
    const options = range === undefined ? undefined : { range }
    return (await asking(() => this.#options.bucket.get(key, options))) ?? undefined
  }

  async #ensureStored(
    reserved: Reservation,
    content: { readonly bytes: Uint8Array; readonly hash: string },
  ): Promise<void> {
    const { bucket, shared } = this.#options
    const underWay = shared.uploads.get(reserved.id)
    if (underWay !== undefined) return underWay
    const isThere = reserved.isStored && (await asking(() => bucket.head(reserved.key))) !== null
    if (isThere) return
    const upload = asking(() =>
      bucket.put(reserved.key, content.bytes, { sha256: content.hash }),
    ).then(() => undefined)
    shared.uploads.set(reserved.id, upload)
    try {
      await upload
    } finally {
      shared.uploads.delete(reserved.id)
    }
  }

  /** The row of a hash. One that is being deleted is left alone: another takes its place. */
  #reserve(hash: string): Reservation {
    const { database, namespace, graceMs } = this.#options
    const dueMs = this.#options.now() + graceMs
    return database.transaction(() => {
      const known = database.get(
        `SELECT id, key, state FROM helix_fs_objects
          WHERE namespace = ? AND hash = ? AND state <> 'deleting' ORDER BY id DESC LIMIT 1`,
        namespace,
        hash,
      )
      if (known === undefined) return this.#addRow(hash, dueMs)
      const id = numberOf(known, 'id')
      database.run('UPDATE helix_fs_objects SET due_ms = max(due_ms, ?) WHERE id = ?', dueMs, id)
      return { id, key: textOf(known, 'key'), isStored: known.state === 'stored' }
    })
  }

  #addRow(hash: string, dueMs: number): Reservation {
    const { database, namespace, prefix } = this.#options
    const [row] = database.all(
      `INSERT INTO helix_fs_objects (namespace, hash, key, state, refs, due_ms)
        VALUES (?, ?, '', 'pending', 0, ?) RETURNING id`,
      namespace,
      hash,
      dueMs,
    )
    const id = numberOf(row ?? {}, 'id')
    const key = objectKey(prefix, namespace, { hash, id })
    database.run('UPDATE helix_fs_objects SET key = ? WHERE id = ?', key, id)
    return { id, key, isStored: false }
  }
}

/** Every failure of the bucket may pass; what it said is for the log. */
export async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw new WorkspaceFailedError('provider-failed', 'the bucket of the file store failed', {
      transient: true,
      cause,
    })
  }
}
