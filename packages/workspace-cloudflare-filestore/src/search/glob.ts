import {
  compareCodePoints,
  compileGlob,
  createTimeSlice,
  type GlobMatcher,
  type GlobOptions,
  INTERNAL_DIRECTORY,
  isWithin,
  joinPath,
  normalizePath,
} from '@helix-agents/core'
import { textOf } from '../storage/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from '../tree/find-node.ts'
import { placeOf, subtreeOf } from '../tree/place.ts'

/** With these, the order of UTF-16 units is not that of code points. */
const SURROGATE = /[\uD800-\uDFFF]/
const INTERNAL = `${INTERNAL_DIRECTORY}/`

/** With paths of 4,096 bytes, the paths of a page still fit into a value of 2 MB. */
const PAGE = 480

/** Paths hold no NUL. The order of the inner rows is that of the key: one range, no sort. */
const PATHS = `SELECT group_concat(path, char(0)) AS paths FROM (
    SELECT directory || name AS path FROM helix_fs_nodes
    WHERE namespace = ?1 AND (directory, name) > (?2, ?3) AND directory < ?4
      AND content IS NOT NULL
    ORDER BY directory, name LIMIT ${PAGE}
  )`

/** Paths of the files below a directory that match, sorted. */
export async function glob(
  context: StoreContext,
  pattern: string,
  options: GlobOptions,
): Promise<string[]> {
  options.signal?.throwIfAborted()
  const matcher = compileGlob(pattern)
  const path = normalizePath(options.path ?? '/')
  requireNode(context, path)
  const matches = fileTest(matcher, path)
  const base = matcher.base === '' ? path : joinPath(path, matcher.base)
  const found: string[] = []
  let isPlain = true
  for await (const page of pathPages(context, base, options.signal)) {
    isPlain &&= !SURROGATE.test(page)
    for (const file of page.split('\0')) if (matches(file)) found.push(file)
  }
  // Directories come one after another: few long runs to be sorted.
  const sorted = isPlain ? found.toSorted() : found.toSorted(compareCodePoints)
  return options.limit === undefined ? sorted : sorted.slice(0, Math.max(0, options.limit))
}

/** Whether a file is found by a search below a path. */
function fileTest(matcher: GlobMatcher, path: string): (file: string) => boolean {
  const offset = path === '/' ? 1 : path.length + 1
  if (isWithin(path, INTERNAL_DIRECTORY)) return (file) => matcher.matches(file.slice(offset))
  return (file) => matcher.matches(file.slice(offset)) && !file.startsWith(INTERNAL)
}

/** The paths of all files below a directory, by directory and name, with a NUL between them. */
async function* pathPages(
  context: StoreContext,
  base: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const range = subtreeOf(base)
  const slice = createTimeSlice()
  let after = { directory: range.start, name: '' }
  for (;;) {
    const { directory, name } = after
    const row = context.database.get(PATHS, context.namespace.id, directory, name, range.end)
    if (row === undefined || row.paths === null) return
    const page = textOf(row, 'paths')
    yield page
    after = placeOf(page.slice(page.lastIndexOf('\0') + 1))
    if (!slice.due) continue
    await slice.pause()
    signal?.throwIfAborted()
  }
}
