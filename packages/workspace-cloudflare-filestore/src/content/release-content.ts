import { numberOf } from '../sql/columns.ts'
import type { ContentContext, StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag } from '../tree/node.ts'
import { countObjectRefs } from './object-refs.ts'

/** Releases the content of a node: its blocks are removed unless they are shared or retained. */
export function releaseContent(context: StoreContext, content: Content): void {
  if (hasFlag(content, flags.spilled)) context.onGarbage()
  if (hasFlag(content, flags.shared) && isStillShared(context, content.id)) return
  if (context.shared.contents.has(content.id)) {
    unlinkContent(context, content.id)
    return
  }
  if (content.blocks > 0) dropBlocks(context, content.id, hasFlag(content, flags.spilled))
}

/** Records a content that no node refers to: it is removed on release, or by the collector. */
export function unlinkContent(context: StoreContext, contentId: number): void {
  context.onGarbage()
  context.database.run(
    'INSERT OR IGNORE INTO helix_fs_unlinked (content, namespace) VALUES (?, ?)',
    contentId,
    context.namespace.id,
  )
}

/** Removes an unlinked content. Does nothing to any other. */
export function dropUnlinked(context: ContentContext, contentId: number): void {
  const [unlinked] = context.database.all(
    'DELETE FROM helix_fs_unlinked WHERE content = ? RETURNING content',
    contentId,
  )
  if (unlinked !== undefined) dropBlocks(context, contentId, true)
}

/** Releases a retained content; the last release removes an unlinked one. */
export function releaseRetained(context: StoreContext, contentId: number): void {
  if (!context.shared.contents.release(contentId)) return
  try {
    context.database.transaction(() => dropUnlinked(context, contentId))
  } catch (error) {
    // The collector finds it later.
    context.logger.warn({ error }, 'file store: removing a content failed')
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
