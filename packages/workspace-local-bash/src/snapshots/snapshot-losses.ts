/**
 * `special-file`: a pipe, a socket or a device. `link`: a link out of the workspace, or one that climbs
 * behind a name. `path`: a name is no UTF-8, or no path can name it. `unreadable`: its mode forbids
 * reading. `changing`: held, but it changed each time it was read. `hard-link`: held as a file of its
 * own.
 */
export type LossKind = 'special-file' | 'link' | 'path' | 'unreadable' | 'changing' | 'hard-link'

/** Paths that are named of each kind. */
const MAX_PATHS = 5

/** What a snapshot does not hold as it is: counted, and some of it named. */
export class SnapshotLosses {
  readonly #found = new Map<LossKind, { count: number; readonly paths: string[] }>()

  add(path: string, kind: LossKind): void {
    const found = this.#found.get(kind) ?? { count: 0, paths: [] }
    this.#found.set(kind, found)
    found.count += 1
    if (found.paths.length < MAX_PATHS) found.paths.push(path)
  }

  get list(): readonly {
    readonly kind: LossKind
    readonly count: number
    readonly paths: readonly string[]
  }[] {
    return [...this.#found].map(([kind, found]) => ({ kind, ...found }))
  }
}
