import { FileSystemError, normalizePath } from '@helix-agents/core'
import { releaseContent } from '../content/release-content.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import { flags, toContent } from './node.ts'
import { placeOf, type SubtreeRange, subtreeOf } from './place.ts'
import { makeVersion } from './store-node.ts'

/** Removes what is at a path, in one transaction. */
export function remove(context: StoreContext, path: string, recursive: boolean): void {
  const normal = normalizePath(path)
  context.database.transaction(() => {
    const node = requireNode(context, normal)
    if (node.content !== undefined) releaseContent(context, node.content)
    else removeBelow(context, path, { range: subtreeOf(normal), recursive })
    removeNode(context, normal)
    makeVersion(context)
  })
}

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

const IN_RANGE = 'namespace = ?1 AND directory >= ?2 AND directory < ?3'

function removeBelow(
  context: StoreContext,
  path: string,
  removal: { readonly range: SubtreeRange; readonly recursive: boolean },
): void {
  const { range, recursive } = removal
  if (!recursive) {
    const [child] = context.database.all(
      `SELECT 1 AS present FROM helix_fs_nodes WHERE ${IN_RANGE} LIMIT 1`,
      context.namespace.id,
      range.start,
      range.end,
    )
    if (child !== undefined) throw new FileSystemError('not-empty', path)
    return
  }
  removeSubtree(context, range)
}

/** Contents of one block that nobody holds or keeps elsewhere: nearly all. */
const PLAIN = `blocks <= 1 AND flags & ${flags.spilled} = 0
  AND content NOT IN (SELECT value FROM json_each(?4))`

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
  WHERE ${IN_RANGE} AND content > ?5 AND NOT (${PLAIN}) AND NOT (${IS_SHARED} AND ${KEPT})
  ORDER BY content LIMIT ${BATCH}`

/** Removes every node of a range, and the contents that only they had. */
export function removeSubtree(context: StoreContext, range: SubtreeRange): void {
  const { database, namespace } = context
  const bindings = [namespace.id, range.start, range.end]
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
