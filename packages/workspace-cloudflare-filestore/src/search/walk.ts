import { compareCodePoints } from '@helix-agents/core/provider'
import { BLOCK_BYTES } from '../content/cut-blocks.ts'
import { numberOf, textOf } from '../sql/columns.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'
import { type Content, flags, toContent } from '../tree/node.ts'

/** A file that a walk comes by. */
export interface WalkedFile {
  readonly path: string
  readonly content: Content
}

/** Between two files: so many bytes were searched since the last of these. */
export interface WalkedPage {
  readonly bytes: number
}

export type WalkStep = WalkedFile | WalkedPage

/** How a tree is walked. */
export interface Walk {
  /** False leaves a directory out; its path ends in a slash. */
  enters(directory: string): boolean
  /**
   * Leaves out files of one block without this text; the database searches them. Files of which
   * that is not known so quickly are all there, and so are those that are too large.
   */
  readonly filter: TextFilter | undefined
}

/** A text that is wanted, and the size up to which files are searched for it. */
export interface TextFilter {
  readonly literal: Uint8Array
  readonly maxBytes: number
}

/** With blocks of 64 KiB, a page is searched within a share of the event loop. */
const PAGE = 256

const BOUNDS = `SELECT max(name) AS last, count(*) AS entries,
    coalesce(sum(min(size, ${BLOCK_BYTES})), 0) AS bytes
  FROM (
    SELECT name, size FROM helix_fs_nodes
    WHERE namespace = ? AND directory = ? AND name > ? ORDER BY name LIMIT ${PAGE}
  )`

const IN_PAGE = 'n.namespace = ?1 AND n.directory = ?2 AND n.name > ?3 AND n.name <= ?4'

const CHILDREN = `SELECT n.name, n.content, n.size, n.blocks, n.flags FROM helix_fs_nodes n
  WHERE ${IN_PAGE} ORDER BY n.name`

/** One block in the database, that is text: what the database can search. */
export const IS_PLAIN = `n.blocks = 1 AND n.flags & ${flags.spilled | flags.binary} = 0`

/** May have a text: it is there, or the database does not know. `b` is the block of a plain one. */
export const IS_CANDIDATE = (literal: string, maxBytes: string): string =>
  `NOT (${IS_PLAIN}) OR n.size > ${maxBytes} OR instr(b.data, ${literal}) > 0`

const CANDIDATES = `SELECT n.name, n.content, n.size, n.blocks, n.flags FROM helix_fs_nodes n
  LEFT JOIN helix_fs_blocks b ON b.id = n.content AND ${IS_PLAIN}
  WHERE ${IN_PAGE} AND (n.content IS NULL OR ${IS_CANDIDATE('?5', '?6')})
  ORDER BY n.name`

/**
 * The files below a directory in the order of their paths, page by page: memory does not grow with
 * the tree. Files that appear or vanish between two pages may or may not be seen.
 *
 * @param directory ends in a slash.
 */
export function* walkFiles(
  context: StoreContext,
  directory: string,
  walk: Walk,
): Generator<WalkStep> {
  /** Names of directories whose turn has not come: below `a` comes after `a-b`, as `a/`. */
  const waiting: string[] = []
  for (const step of childrenOf(context, directory, walk)) {
    if (isPage(step)) yield step
    else {
      const name = textOf(step, 'name')
      for (const next of takeBefore(waiting, name)) yield* walkInto(context, directory + next, walk)
      const content = toContent(step)
      if (content === undefined) addSorted(waiting, `${name}/`)
      else yield { path: directory + name, content }
    }
  }
  for (const next of waiting) yield* walkInto(context, directory + next, walk)
}

function* walkInto(context: StoreContext, directory: string, walk: Walk): Generator<WalkStep> {
  if (walk.enters(directory)) yield* walkFiles(context, directory, walk)
}

/** Takes out what sorts before a name. */
function takeBefore(waiting: string[], name: string): string[] {
  const end = waiting.findIndex((one) => compareCodePoints(one, name) > 0)
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

function addSorted(waiting: string[], added: string): void {
  const at = waiting.findIndex((one) => compareCodePoints(one, added) > 0)
  waiting.splice(at < 0 ? waiting.length : at, 0, added)
}

function isPage(step: FileStoreSqlRow | WalkedPage): step is WalkedPage {
  return 'bytes' in step
}

function* childrenOf(
  context: StoreContext,
  directory: string,
  walk: Walk,
): Generator<FileStoreSqlRow | WalkedPage> {
  const { database, namespace } = context
  let after = ''
  for (;;) {
    const bounds = database.get(BOUNDS, namespace.id, directory, after)
    if (bounds === undefined || bounds.last === null) return
    const last = textOf(bounds, 'last')
    const page = [namespace.id, directory, after, last]
    if (walk.filter === undefined) yield* database.all(CHILDREN, ...page)
    else {
      yield* database.all(CANDIDATES, ...page, walk.filter.literal, walk.filter.maxBytes)
      yield { bytes: numberOf(bounds, 'bytes') }
    }
    if (numberOf(bounds, 'entries') < PAGE) return
    after = last
  }
}
