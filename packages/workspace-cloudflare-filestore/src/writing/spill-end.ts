import { releaseContent } from '../content/release-content.ts'
import { bytesOf, numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { findNode } from '../tree/find-node.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, type TreeNode } from '../tree/node.ts'
import { placeOf } from '../tree/place.ts'
import { allocateVersion } from '../tree/store-node.ts'
import { StagedContent } from './staged-content.ts'

/**
 * Moves what a file has in the database to the bucket, once that is more than the inline
 * threshold. The file keeps its version: its content is the same. Never throws, since the append
 * before it has happened.
 */
export async function spillEnd(
  context: StoreContext,
  path: string,
  file: { readonly node: TreeNode; readonly content: Content },
): Promise<void> {
  const { content, node } = file
  const { partBytes } = context
  const { spills } = context.shared
  if (spills.has(content.id)) return
  spills.add(content.id)
  const staged = new StagedContent(context)
  try {
    if (inlineBytes(context, content) <= context.inlineThresholdBytes) return
    const end = readEnd(context, content)
    staged.copyObjects(content)
    for (let start = 0; start < end.length; start += partBytes) {
      await staged.add(end.subarray(start, start + partBytes))
    }
    const now = unchanged(context, path, file)
    if (now === undefined) return
    staged.commit(now.flags & flags.binary, (spilled) => {
      releaseContent(context, now)
      referTo(context, path, spilled)
    })
  } catch (error) {
    context.logger.warn(
      { error, version: node.version },
      'file store: moving a file to the bucket failed',
    )
  } finally {
    spills.delete(content.id)
    staged.discard()
  }
}

/**
 * The content of the file as it is now, or undefined when it is another. A copy that was made in
 * between shares it and changes no version. Nothing can come between this and a commit that
 * follows without an await.
 */
function unchanged(
  context: StoreContext,
  path: string,
  file: { readonly node: TreeNode; readonly content: Content },
): Content | undefined {
  const now = findNode(context, path)
  const isSame = now?.version === file.node.version && now.content?.id === file.content.id
  return isSame ? now.content : undefined
}

function referTo(context: StoreContext, path: string, content: Content): void {
  const { directory, name } = placeOf(path)
  allocateVersion(context)
  context.database.run(
    `UPDATE helix_fs_nodes SET content = ?, blocks = ?, flags = ?
      WHERE namespace = ? AND directory = ? AND name = ?`,
    content.id,
    content.blocks,
    content.flags,
    context.namespace.id,
    directory,
    name,
  )
}

function inlineBytes(context: StoreContext, content: Content): number {
  const row = context.database.get(
    `SELECT coalesce(sum(size), 0) AS size FROM helix_fs_blocks
      WHERE id >= ? AND id < ? AND object IS NULL`,
    content.id,
    content.id + BLOCKS_PER_CONTENT,
  )
  return row === undefined ? 0 : numberOf(row, 'size')
}

/** The blocks in the database stand behind those in the bucket. */
function readEnd(context: StoreContext, content: Content): Uint8Array<ArrayBuffer> {
  const rows = context.database.all(
    `SELECT data FROM helix_fs_blocks
      WHERE id >= ? AND id < ? AND object IS NULL ORDER BY id`,
    content.id,
    content.id + BLOCKS_PER_CONTENT,
  )
  const pieces = rows.map((row) => bytesOf(row, 'data'))
  const end = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    end.set(piece, at)
    at += piece.length
  }
  return end
}
