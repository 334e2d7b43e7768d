import { KnownNodes } from './known/known-nodes.ts'
import type { FileStoreSql, FileStoreStorage } from './ports.ts'

/** Reference counts by id. */
export class RetainCounts {
  readonly #counts = new Map<number, number>()

  has(id: number): boolean {
    return this.#counts.has(id)
  }

  ids(): number[] {
    return [...this.#counts.keys()]
  }

  retain(id: number): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  /** @returns true when this was the last reference. */
  release(id: number): boolean {
    const left = (this.#counts.get(id) ?? 0) - 1
    if (left > 0) this.#counts.set(id, left)
    else this.#counts.delete(id)
    return left === 0
  }
}

/**
 * What all handles of one database in this isolate share. It ends with the isolate, and with it all
 * that is retained: streams and unfinished writes.
 */
export interface SharedState {
  /** Contents that a stream reads or a write builds: not removed, not changed in place. */
  readonly contents: RetainCounts
  /** Objects that are being put or are about to be referred to: not collected. */
  readonly objects: RetainCounts
  /** Puts under way, by object id. */
  readonly uploads: Map<number, Promise<void>>
  /** Contents whose end is being moved to the bucket. */
  readonly spills: Set<number>
  /** Namespaces that were removed here: their handles are `lost` unless that was rolled back. */
  readonly removed: Set<number>
  readonly known: KnownNodes
}

const states = new WeakMap<FileStoreSql, SharedState>()

/**
 * The shared state of a database: one for all storages with the same `sql`, since handles of one
 * database must see what the others retain and know.
 */
export function sharedStateOf({ sql }: FileStoreStorage): SharedState {
  const known = states.get(sql)
  if (known !== undefined) return known
  const state: SharedState = {
    contents: new RetainCounts(),
    objects: new RetainCounts(),
    uploads: new Map(),
    spills: new Set(),
    removed: new Set(),
    known: new KnownNodes(),
  }
  states.set(sql, state)
  return state
}
