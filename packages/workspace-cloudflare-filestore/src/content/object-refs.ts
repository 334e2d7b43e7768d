import type { ContentContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT } from '../tree/node.ts'

/** A content may refer to one object several times. */
const COUNT = `UPDATE helix_fs_objects
  SET refs = refs + ?3 * (
      SELECT count(*) FROM helix_fs_blocks b
      WHERE b.id >= ?1 AND b.id < ?2 AND b.object = helix_fs_objects.id
    ),
    due_ms = max(due_ms, ?4)
  WHERE id IN (
    SELECT object FROM helix_fs_blocks WHERE id >= ?1 AND id < ?2 AND object IS NOT NULL
  )`

/** Counts the references of a content's blocks in or out. What has none left is garbage. */
export function countObjectRefs(context: ContentContext, contentId: number, sign: 1 | -1): void {
  context.database.run(
    COUNT,
    contentId,
    contentId + BLOCKS_PER_CONTENT,
    sign,
    context.now() + context.collectionGraceMs,
  )
}
