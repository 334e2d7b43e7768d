import { numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags } from '../tree/node.ts'
import { addBlocks } from './add-blocks.ts'
import { BLOCK_BYTES, cutBlocks } from './cut-blocks.ts'
import type { NewData } from './new-data.ts'

/** A block between others is never smaller than this, unless its content is text cut short. */
export const MIN_INNER_BLOCK_BYTES = 16_384
/** A block that an edit made longer is cut above this. */
const MAX_EDITED_BLOCK_BYTES = 2 * BLOCK_BYTES

/**
 * Replaces the data of a content that no other file or stream uses. Only blocks that differ are written:
 * an edit at one place of a large file writes one.
 */
export function rewriteBlocks(context: StoreContext, before: Content, data: NewData): Content {
  if (before.blocks === 1 && data.bytes.length > 0 && data.bytes.length <= BLOCK_BYTES) {
    setBlock(context, before.id, data.bytes)
    return { ...before, size: data.bytes.length, flags: data.flags }
  }
  const same = findSame(context, before, data.bytes)
  const changed = { ...before, size: data.bytes.length, flags: flagsAfter(before, data, same) }
  const middle = data.bytes.subarray(same.headBytes, data.bytes.length - same.tailBytes)
  const pieces = piecesFor(same, { bytes: middle, flags: data.flags })
  if (pieces !== undefined) {
    for (const [index, piece] of pieces.entries()) {
      setBlock(context, before.id + same.head + index, piece)
    }
    return changed
  }
  return rewriteRest(context, changed, { data, same })
}

/** Keeps the blocks at the start and writes all behind them. */
function rewriteRest(
  context: StoreContext,
  changed: Content,
  rewrite: { readonly data: NewData; readonly same: SameParts },
): Content {
  const { data, same } = rewrite
  const isShort = same.lastHeadBytes < MIN_INNER_BLOCK_BYTES
  const head = isShort ? Math.max(same.head - 1, 0) : same.head
  const headBytes = isShort ? same.headBytes - same.lastHeadBytes : same.headBytes
  context.database.run(
    'DELETE FROM helix_fs_blocks WHERE id >= ? AND id < ?',
    changed.id + head,
    changed.id + BLOCKS_PER_CONTENT,
  )
  const rest = { bytes: data.bytes.subarray(headBytes), flags: data.flags }
  return addBlocks(context, { ...changed, size: headBytes, blocks: head }, cutBlocks(rest))
}

function setBlock(context: StoreContext, id: number, bytes: Uint8Array): void {
  context.database.run(
    'UPDATE helix_fs_blocks SET size = ?, data = ? WHERE id = ?',
    bytes.length,
    bytes,
    id,
  )
}

/** How much of a content stays as it is. */
interface SameParts {
  /** Blocks at the start, and their bytes. */
  readonly head: number
  readonly headBytes: number
  /** Of the last of them; 0 without any. */
  readonly lastHeadBytes: number
  /** Blocks at the end, and their bytes. */
  readonly tail: number
  readonly tailBytes: number
  /** Blocks between them. */
  readonly between: number
}

function findSame(context: StoreContext, before: Content, bytes: Uint8Array): SameParts {
  const sizes = context.database
    .all(
      'SELECT size FROM helix_fs_blocks WHERE id >= ? AND id < ? ORDER BY id',
      before.id,
      before.id + BLOCKS_PER_CONTENT,
    )
    .map((row) => numberOf(row, 'size'))
  let [head, headBytes, lastHeadBytes, tail, tailBytes] = [0, 0, 0, 0, 0]
  for (const size of sizes) {
    const piece = bytes.subarray(headBytes, headBytes + size)
    if (!holds(context, before.id + head, piece, size)) break
    head += 1
    headBytes += size
    lastHeadBytes = size
  }
  for (const size of sizes.slice(head).toReversed()) {
    const end = bytes.length - tailBytes
    if (end - size < headBytes) break
    const index = sizes.length - 1 - tail
    if (!holds(context, before.id + index, bytes.subarray(end - size, end), size)) break
    tail += 1
    tailBytes += size
  }
  return {
    head,
    headBytes,
    lastHeadBytes,
    tail,
    tailBytes,
    between: sizes.length - head - tail,
  }
}

/** Compared inside the database: nothing is copied out. */
function holds(context: StoreContext, id: number, piece: Uint8Array, size: number): boolean {
  if (piece.length !== size) return false
  const row = context.database.get(
    'SELECT 1 AS same FROM helix_fs_blocks WHERE id = ? AND data = ?',
    id,
    piece,
  )
  return row !== undefined
}

/** The middle as exactly the blocks that are there for it, or undefined when they do not fit. */
function piecesFor(same: SameParts, middle: NewData): readonly Uint8Array[] | undefined {
  const { length } = middle.bytes
  if (same.between === 0) return length === 0 ? [] : undefined
  if (same.between === 1 && length > 0 && length <= MAX_EDITED_BLOCK_BYTES) {
    return isLastFine(same, [middle.bytes]) ? [middle.bytes] : undefined
  }
  const pieces = cutBlocks(middle)
  return pieces.length === same.between && isLastFine(same, pieces) ? pieces : undefined
}

/** Between others, a small block would make literals hard to find. */
function isLastFine(same: SameParts, pieces: readonly Uint8Array[]): boolean {
  return same.tail === 0 || (pieces.at(-1)?.length ?? 0) >= MIN_INNER_BLOCK_BYTES
}

/** Blocks that stay may end within a character, unless they were text before. */
function flagsAfter(before: Content, data: NewData, same: SameParts): number {
  const keepsText = same.head + same.tail === 0 || (before.flags & flags.text) !== 0
  return keepsText ? data.flags : data.flags & ~flags.text
}
