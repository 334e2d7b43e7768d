import { numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag } from '../tree/node.ts'
import { addBlocks } from './add-blocks.ts'
import { BLOCK_BYTES, cutAt, cutBlocks } from './cut-blocks.ts'
import type { NewData } from './new-data.ts'
import { countObjectRefs } from './object-refs.ts'
import { releaseContent } from './release-content.ts'

/** Bytes of both, as text only when both are text: the columns have no encoding of their own. */
const EXTEND = `UPDATE helix_fs_blocks
  SET size = size + ?, data = CAST(CAST(data AS TEXT) || CAST(? AS TEXT) AS BLOB) WHERE id = ?`

/**
 * Adds data to the end of a content; only its last block is written again. A stream that reads the
 * content is not disturbed: it knows where the end was.
 */
export function appendContent(context: StoreContext, before: Content, data: NewData): Content {
  const filled = extendLast(context, before, data)
  const rest = { bytes: data.bytes.subarray(filled), flags: data.flags }
  const kept = { ...before, size: before.size + filled }
  const after = addBlocks(context, kept, cutBlocks(rest))
  return { ...after, flags: joinedFlags(before, data) }
}

/** The content itself, or a copy of it when other files share it. */
export function ownContent(context: StoreContext, content: Content, newId: number): Content {
  if (!hasFlag(content, flags.shared)) return content
  context.database.run(
    `INSERT INTO helix_fs_blocks (id, size, object, data)
      SELECT id - ?1 + ?3, size, object, data FROM helix_fs_blocks WHERE id >= ?1 AND id < ?2`,
    content.id,
    content.id + BLOCKS_PER_CONTENT,
    newId,
  )
  if (hasFlag(content, flags.spilled)) countObjectRefs(context, newId, 1)
  releaseContent(context, content)
  return { ...content, id: newId, flags: content.flags & ~flags.shared }
}

/** Fills up the last block. Returns how many bytes that took. */
function extendLast(context: StoreContext, content: Content, data: NewData): number {
  const last = lastBlock(context, content)
  if (last === undefined || last.size >= BLOCK_BYTES) return 0
  const end = cutAt(data, 0, BLOCK_BYTES - last.size)
  if (end === 0) return 0
  context.database.run(EXTEND, end, data.bytes.subarray(0, end), last.id)
  return end
}

function lastBlock(
  context: StoreContext,
  content: Content,
): { readonly id: number; readonly size: number } | undefined {
  if (content.blocks === 0) return undefined
  const id = content.id + content.blocks - 1
  if (content.blocks === 1 && !hasFlag(content, flags.spilled)) return { id, size: content.size }
  const row = context.database.get(
    'SELECT size FROM helix_fs_blocks WHERE id = ? AND object IS NULL',
    id,
  )
  return row === undefined ? undefined : { id, size: numberOf(row, 'size') }
}

function joinedFlags(before: Content, data: NewData): number {
  const isText = (before.size === 0 || (before.flags & flags.text) !== 0) && data.flags & flags.text
  const others = (before.flags | data.flags) & ~flags.text
  return isText ? others | flags.text : others
}
