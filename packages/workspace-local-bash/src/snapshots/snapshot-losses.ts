/**
 * `special-file`: a pipe, a socket or a device. `link`: a link out of the workspace, or one that climbs
 * behind a name. `path`: a name is no UTF-8, or no path can name it. `unreadable`: its mode forbids
 * reading. `changing`: held, but it changed each time it was read. `hard-link`: held as a file of its
 * own.
 */
export type LossKind = 'special-file' | 'link' | 'path' | 'unreadable' | 'changing' | 'hard-link'

/** Paths that are named of each kind. */
const MAX_PATHS = 5

/** Of the sentence in a ref and in a receipt. */
export const MAX_LOST_CHARACTERS = 1000
/** Characters of a path there. */
const MAX_PATH_CHARACTERS = 100

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

  /** One sentence for the model; undefined when everything is held. */
  get sentence(): string | undefined {
    if (this.#found.size === 0) return undefined
    const parts = [...this.#found].map(([kind, { count, paths }]) => {
      const named = paths.map((path) => JSON.stringify(path.slice(0, MAX_PATH_CHARACTERS)))
      return `${kind} ${named.join(', ')}${count > paths.length ? ' and others' : ''} (${count})`
    })
    const sentence = `The snapshot does not hold as they were: ${parts.join('; ')}.`
    return sentence.slice(0, MAX_LOST_CHARACTERS)
  }
}
