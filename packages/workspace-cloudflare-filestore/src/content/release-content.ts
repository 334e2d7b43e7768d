import { numberOf } from '../sql/columns.ts'
import type { ContentContext, StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag } from '../tree/node.ts'
import { countObjectRefs } from './object-refs.ts'

/** A node lets go of its content: the blocks go, unless somebody else still needs them. */
export function releaseContent(context: StoreContext, content: Content): void {
  if (hasFlag(content, flags.spilled)) context.onGarbage()
  if (hasFlag(content, flags.shared) && isStillShared(context, content.id)) return
  if (context.shared.contents.has(content.id)) {
    unlinkContent(context, content.id)
    return
  }
  if (content.blocks > 0) dropBlocks(context, content.id, hasFlag(content, flags.spilled))
}

/** Notes a content that no node refers to, for whoever holds it and for the collector. */
export function unlinkContent(context: StoreContext, contentId: number): void {
  context.onGarbage()
  context.database.run(
    'INSERT OR IGNORE INTO helix_fs_unlinked (content, namespace) VALUES (?, ?)',
    contentId,
    context.namespace.id,
  )
}

/** Removes a loose content. Does nothing when it is not loose. */
export function dropUnlinked(context: ContentContext, contentId: number): void {
  const [loose] = context.database.all(
    'DELETE FROM helix_fs_unlinked WHERE content = ? RETURNING content',
    contentId,
  )
  if (loose !== undefined) dropBlocks(context, contentId, true)
}

/** Ends a hold on a content, and removes it if it waited for that. */
export function releaseRetained(context: StoreContext, contentId: number): void {
  if (!context.shared.contents.release(contentId)) return
  try {
    context.database.transaction(() => dropUnlinked(context, contentId))
  } catch (error) {
    // The collector finds it later.
    context.logger.warn({ error }, 'file store: a content could not be removed')
  }
}

function dropBlocks(context: ContentContext, contentId: number, isSpilled: boolean): void {
  if (isSpilled) countObjectRefs(context, contentId, -1)
  context.database.run(
    'DELETE FROM helix_fs_blocks WHERE id >= ? AND id < ?',
    contentId,
    contentId + BLOCKS_PER_CONTENT,
  )
}

function isStillShared(context: StoreContext, contentId: number): boolean {
  const row = context.database.get(
    'UPDATE helix_fs_shares SET refs = refs - 1 WHERE content = ? RETURNING refs',
    contentId,
  )
  if (row === undefined) return false
  if (numberOf(row, 'refs') > 0) return true
  context.database.run('DELETE FROM helix_fs_shares WHERE content = ?', contentId)
  return false
}
