import { KnownNodes } from './known/known-nodes.ts'
import type { FileStoreSql, FileStoreStorage } from './ports.ts'

/** Counts who holds a thing by its id; nobody holds it again when all have let go. */
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

  /** True when this was the last hold. */
  release(id: number): boolean {
    const left = (this.#counts.get(id) ?? 0) - 1
    if (left > 0) this.#counts.set(id, left)
    else this.#counts.delete(id)
    return left === 0
  }
}

/**
 * What everything that works on one database in this isolate must know of each other. An isolate
 * that ends takes it along, and with it all that is held: streams and unfinished writes.
 */
export interface SharedState {
  /** Contents that a stream reads or a write builds: not removed, not changed in place. */
  readonly contents: RetainCounts
  /** Objects that are being put or are about to be referred to: not collected. */
  readonly objects: RetainCounts
  /** Puts under way, by object id. */
  readonly uploads: Map<number, Promise<void>>
  /** Contents whose end is on its way to the bucket. */
  readonly spills: Set<number>
  /** Namespaces that were removed here: their handles are `lost` unless that was rolled back. */
  readonly removed: Set<number>
  readonly known: KnownNodes
}

const states = new WeakMap<FileStoreSql, SharedState>()

/**
 * The state that goes with a database: one for all storages that have the same `sql`, or what one
 * holds and remembers would be nothing to the others.
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
