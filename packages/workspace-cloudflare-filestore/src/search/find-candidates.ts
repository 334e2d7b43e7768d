import { compareCodePoints, INTERNAL_DIRECTORY } from '@helix-agents/core/provider'
import { BLOCK_BYTES } from '../content/cut-blocks.ts'
import { numberOf, textOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { toContent } from '../tree/node.ts'
import { type Place, type SubtreeRange, subtreeOf } from '../tree/place.ts'
import { IS_CANDIDATE, IS_PLAIN, type TextFilter, type WalkedFile } from './walk.ts'

/** More of them are found on a walk, which needs no list. */
const MAX_CANDIDATES = 512
/** With blocks of 64 KiB, a page is searched within a share of the event loop. */
const PAGE = 256

/** Where the page after a place ends, and how much is searched in it. */
const PAGE_END = `SELECT directory, name, (
    SELECT sum(min(size, ${BLOCK_BYTES})) FROM (
      SELECT size FROM helix_fs_nodes
      WHERE namespace = ?1 AND (directory, name) > (?2, ?3) AND directory < ?4
      ORDER BY directory, name LIMIT ${PAGE}
    )
  ) AS bytes
  FROM helix_fs_nodes
  WHERE namespace = ?1 AND (directory, name) > (?2, ?3) AND directory < ?4
  ORDER BY directory, name LIMIT 1 OFFSET ${PAGE - 1}`

const CANDIDATES = `SELECT n.directory, n.name, n.content, n.size, n.blocks, n.flags FROM (
    SELECT directory, name, content, size, blocks, flags FROM helix_fs_nodes
    WHERE namespace = ?1 AND (directory, name) > (?2, ?3) AND directory < ?4
    ORDER BY directory, name LIMIT ${PAGE}
  ) n LEFT JOIN helix_fs_blocks b ON b.id = n.content AND ${IS_PLAIN}
  WHERE n.content IS NOT NULL AND (${IS_CANDIDATE('?5', '?6')})`

/** Yields to other work now and then; called with the bytes searched since. */
export type Rest = (bytes: number) => Promise<void>

/**
 * The files below a directory that may have a text, in the order of their paths: pages of the whole
 * tree, however small its directories are. Undefined when they are many.
 */
export async function findCandidates(
  context: StoreContext,
  path: string,
  search: { readonly filter: TextFilter; readonly rest: Rest },
): Promise<readonly WalkedFile[] | undefined> {
  const found: WalkedFile[] = []
  for (const range of rangesOf(path)) {
    let after: Place | undefined = { directory: range.start, name: '' }
    while (after !== undefined) {
      const page = [context.namespace.id, after.directory, after.name, range.end]
      found.push(...candidatesOf(context, page, search.filter))
      if (found.length > MAX_CANDIDATES) return undefined
      const end = context.database.get(PAGE_END, ...page)
      if (end !== undefined) await search.rest(numberOf(end, 'bytes'))
      after = end && { directory: textOf(end, 'directory'), name: textOf(end, 'name') }
    }
  }
  return found.toSorted((a, b) => compareCodePoints(a.path, b.path))
}

/** What lies below a path; the internal directory only when it is named. */
function rangesOf(path: string): readonly SubtreeRange[] {
  const whole = subtreeOf(path)
  if (path !== '/') return [whole]
  const internal = subtreeOf(INTERNAL_DIRECTORY)
  return [
    { start: whole.start, end: internal.start },
    { start: internal.end, end: whole.end },
  ]
}

function candidatesOf(
  context: StoreContext,
  page: readonly (string | number)[],
  filter: TextFilter,
): WalkedFile[] {
  const rows = context.database.all(CANDIDATES, ...page, filter.literal, filter.maxBytes)
  return rows.flatMap((row) => {
    const content = toContent(row)
    if (content === undefined) return []
    return [{ path: textOf(row, 'directory') + textOf(row, 'name'), content }]
  })
}
