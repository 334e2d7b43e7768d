/** Where a node stands, as the table of nodes knows it. */
export interface Place {
  /** Ends in a slash; empty for the root, which has no row. */
  readonly directory: string
  readonly name: string
}

/** The place of a normalised path. */
export function placeOf(path: string): Place {
  const slash = path.lastIndexOf('/')
  if (path.length === 1) return { directory: '', name: '' }
  return { directory: path.slice(0, slash + 1), name: path.slice(slash + 1) }
}

/** What stands below a directory: every node whose `directory` is from `start` to before `end`. */
export interface SubtreeRange {
  readonly start: string
  readonly end: string
}

/** The range of a normalised path. `0` is the character after the slash. */
export function subtreeOf(path: string): SubtreeRange {
  const prefix = path === '/' ? '' : path
  return { start: `${prefix}/`, end: `${prefix}0` }
}
