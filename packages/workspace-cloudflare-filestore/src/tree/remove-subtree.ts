import { releaseContent } from '../content/release-content.ts'
import type { StoreContext } from '../store-context.ts'
import { flags, toContent } from './node.ts'
import { type Place, placeOf, type SubtreeRange } from './place.ts'

/** Takes the row of a node away; its content must be gone or elsewhere. */
export function removeNode(context: StoreContext, path: string): void {
  const { directory, name } = placeOf(path)
  context.database.run(
    'DELETE FROM helix_fs_nodes WHERE namespace = ? AND directory = ? AND name = ?',
    context.namespace.id,
    directory,
    name,
  )
}

/** From a place of the range on. */
const IN_RANGE = 'namespace = ?1 AND (directory, name) >= (?2, ?3) AND directory < ?4'

/** Contents of one block that are neither retained nor shared: nearly all. */
const PLAIN = `blocks <= 1 AND flags & ${flags.spilled} = 0
  AND content NOT IN (SELECT value FROM json_each(?5))`

const IS_SHARED = `flags & ${flags.shared} <> 0`

/** Contents that another node still has. */
const KEPT = 'content IN (SELECT content FROM helix_fs_shares WHERE refs > 0)'

/** Counts out every reference of the range; what has none left is removed like any other. */
const UNSHARE = `UPDATE helix_fs_shares SET refs = refs - removed.nodes
  FROM (
    SELECT content AS id, count(*) AS nodes FROM helix_fs_nodes
    WHERE ${IN_RANGE} AND ${IS_SHARED} GROUP BY content
  ) AS removed WHERE helix_fs_shares.content = removed.id`

const REMOVE_PLAIN = `DELETE FROM helix_fs_blocks WHERE id IN (
  SELECT content FROM helix_fs_nodes
  WHERE ${IN_RANGE} AND content IS NOT NULL AND ${PLAIN} AND NOT (${IS_SHARED} AND ${KEPT}))`

const REMOVE_SHARES = `DELETE FROM helix_fs_shares WHERE refs <= 0 AND content IN (
  SELECT content FROM helix_fs_nodes WHERE ${IN_RANGE} AND ${IS_SHARED})`

/** How many of the other contents are in memory at once. */
const BATCH = 256

const OTHERS = `SELECT DISTINCT content, size, blocks, flags & ${~flags.shared} AS flags
  FROM helix_fs_nodes
  WHERE ${IN_RANGE} AND content > ?6 AND NOT (${PLAIN}) AND NOT (${IS_SHARED} AND ${KEPT})
  ORDER BY content LIMIT ${BATCH}`

/** Removes every node of a range, and the contents that only they had. */
export function removeSubtree(context: StoreContext, range: SubtreeRange): void {
  removeFrom(context, { directory: range.start, name: '' }, range.end)
}

/** Removes the nodes from a place to before the end of a range. */
export function removeFrom(context: StoreContext, from: Place, end: string): void {
  const { database, namespace } = context
  const bindings = [namespace.id, from.directory, from.name, end]
  const held = JSON.stringify(context.shared.contents.ids())
  database.run(UNSHARE, ...bindings)
  database.run(REMOVE_PLAIN, ...bindings, held)
  let after = -1
  for (;;) {
    const rows = database.all(OTHERS, ...bindings, held, after)
    for (const row of rows) {
      const content = toContent(row)
      if (content === undefined) continue
      releaseContent(context, content)
      after = content.id
    }
    if (rows.length < BATCH) break
  }
  database.run(REMOVE_SHARES, ...bindings)
  database.run(`DELETE FROM helix_fs_nodes WHERE ${IN_RANGE}`, ...bindings)
}
