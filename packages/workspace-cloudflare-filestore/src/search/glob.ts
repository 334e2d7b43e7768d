import {
  compileGlob,
  createSearchPace,
  createTimeSlice,
  type GlobMatcher,
  type GlobOptions,
  INTERNAL_DIRECTORY,
  joinPath,
  normalizePath,
  sortByCodePoint,
  utf8Length,
} from '@helix-agents/core/provider'
import { numberOf, textOf } from '../sql/columns.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from '../tree/find-node.ts'
import { placeOf, subtreeOf } from '../tree/place.ts'

/** With these, the order of UTF-16 units is not that of code points. */
const SURROGATE = /[\uD800-\uDFFF]/
const INTERNAL = `${INTERNAL_DIRECTORY}/`
/** A pattern whose last name is a `*` and an end that stands for itself; `[` would not in SQL. */
const ENDS_WITH = /(?:^|\/)\*([^*?[\]{}\\/]+)$/

/** SQLite takes patterns of up to 50 bytes here; one is the `*`. */
const MAX_END_BYTES = 49

/** In a larger namespace not all paths are read in one value: it holds at most 2 MB, and takes its time. */
const MAX_FILES_AT_ONCE = 16_384
/** With paths of 4,096 bytes, those of a page still fit. */
const PAGE = 480
/** A page takes about half a millisecond. */
const CHECKS_A_PAGE = 64
/** So many paths are sorted in one stretch. */
const MAX_SORTED_AT_ONCE = 2048

/** Paths hold no NUL. Rows come in the order of the key. */
const ALL_PATHS = `SELECT group_concat(directory || name, char(0)) AS paths FROM helix_fs_nodes
  WHERE namespace = ? AND directory >= ? AND directory < ? AND name GLOB ? AND content IS NOT NULL`

/** The order of the inner rows is that of the key: one range, no sort. */
const PATHS_AFTER = `SELECT group_concat(path, char(0)) AS paths FROM (
    SELECT directory || name AS path FROM helix_fs_nodes
    WHERE namespace = ? AND (directory, name) > (?, ?) AND directory < ? AND name GLOB ?
      AND content IS NOT NULL
    ORDER BY directory, name LIMIT ?
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
  const base = matcher.base === '' ? path : joinPath(path, matcher.base)
  const end = endOfNames(pattern)
  const matches = fileTest(matcher, path, isOnlyEnd(pattern, matcher, end))
  const pace = matchingPace(matcher, options.signal)
  const found: string[][] = []
  let hasSurrogates = false
  for await (const page of pathPages(context, { base, name: `*${end}` }, options.signal)) {
    hasSurrogates ||= SURROGATE.test(page)
    const files = page.split('\0')
    found.push(matches === undefined ? files : await filtered(files, matches, pace))
  }
  const sorted = await sortedPaths(found.flat(), hasSurrogates, options.signal)
  return sorted.slice(0, Math.max(0, options.limit ?? sorted.length))
}

/** Lets others run, the more often the more a match costs. */
type MatchingPace = (path: string) => Promise<void> | undefined

function matchingPace(matcher: GlobMatcher, signal: AbortSignal | undefined): MatchingPace {
  const pace = createSearchPace()
  return (path) => pace.rest(path.length * matcher.unitsPerCharacter, signal)
}

async function filtered(
  files: readonly string[],
  matches: (file: string) => boolean,
  pace: MatchingPace,
): Promise<string[]> {
  const found: string[] = []
  for (const file of files) {
    if (matches(file)) found.push(file)
    const pause = pace(file)
    if (pause !== undefined) await pause
  }
  return found
}

/** By code point. Paths come in that order, unless a directory has files and directories. */
async function sortedPaths(
  paths: readonly string[],
  hasSurrogates: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  // The order of the engine is faster, and without surrogates the same.
  if (!hasSurrogates && paths.length <= MAX_SORTED_AT_ONCE) return paths.toSorted()
  return sortByCodePoint(paths, (path) => path, signal)
}

/** What the names of all files that match end with; empty when SQL cannot filter by it. */
function endOfNames(pattern: string): string {
  const end = ENDS_WITH.exec(pattern)?.[1] ?? ''
  return end.isWellFormed() && utf8Length(end) <= MAX_END_BYTES ? end : ''
}

/** Whether the end of a name decides, wherever below the base the file is. */
function isOnlyEnd(pattern: string, { base }: GlobMatcher, end: string): boolean {
  return end !== '' && pattern === `${base === '' ? '' : `${base}/`}**/*${end}`
}

/** Whether a file is found by a search below a path; undefined when all that come by are. */
function fileTest(
  matcher: GlobMatcher,
  path: string,
  isOnlyEndWanted: boolean,
): ((file: string) => boolean) | undefined {
  const offset = path === '/' ? 1 : path.length + 1
  const matches = isOnlyEndWanted
    ? undefined
    : (file: string) => matcher.matches(file.slice(offset))
  // Only a search from the root comes by the internal directory without naming it.
  if (path !== '/') return matches
  return (file) => !file.startsWith(INTERNAL) && (matches === undefined || matches(file))
}

interface Files {
  readonly base: string
  /** A pattern of SQL that the name of every file that matches has. */
  readonly name: string
}

/** The paths of files below a directory, by directory and name, with a NUL between them. */
async function* pathPages(
  context: StoreContext,
  files: Files,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const all = pathsAtOnce(context, files)
  if (all !== undefined) {
    if (all !== '') yield all
    return
  }
  const { start, end } = subtreeOf(files.base)
  const slice = createTimeSlice()
  let last = { directory: start, name: '' }
  for (;;) {
    const bounds = [context.namespace.id, last.directory, last.name, end]
    const page = pathsOf(context.database.get(PATHS_AFTER, ...bounds, files.name, PAGE))
    if (page === '') return
    yield page
    last = placeOf(page.slice(page.lastIndexOf('\0') + 1))
    if (!slice.dueAfter(CHECKS_A_PAGE)) continue
    await slice.pause()
    signal?.throwIfAborted()
  }
}

/** Undefined when they are too many, or too long, for one value. */
function pathsAtOnce({ database, namespace }: StoreContext, files: Files): string | undefined {
  const row = database.get('SELECT files FROM helix_fs_namespaces WHERE id = ?', namespace.id)
  if (row === undefined || numberOf(row, 'files') > MAX_FILES_AT_ONCE) return undefined
  const { start, end } = subtreeOf(files.base)
  try {
    return pathsOf(database.get(ALL_PATHS, namespace.id, start, end, files.name))
  } catch {
    return undefined
  }
}

function pathsOf(row: FileStoreSqlRow | undefined): string {
  return row === undefined || row.paths === null ? '' : textOf(row, 'paths')
}
