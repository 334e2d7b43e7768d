import { FileSystemError } from '@helix-agents/core'
import type { StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content } from '../tree/node.ts'
import { cutBlocks } from './cut-blocks.ts'
import type { NewData } from './new-data.ts'

const ADD = 'INSERT INTO helix_fs_blocks (id, size, object, data) VALUES (?, ?, ?, ?)'

/** Stores data as a new content. */
export function addContent(context: StoreContext, contentId: number, data: NewData): Content {
  const content = { id: contentId, size: 0, blocks: 0, flags: data.flags }
  return addBlocks(context, content, cutBlocks(data))
}

/** Adds blocks of bytes behind those of a content. */
export function addBlocks(
  context: StoreContext,
  content: Content,
  pieces: readonly Uint8Array[],
): Content {
  let { size, blocks } = content
  checkBlockCount(blocks + pieces.length)
  for (const piece of pieces) {
    context.database.run(ADD, content.id + blocks, piece.length, null, piece)
    size += piece.length
    blocks += 1
  }
  return { ...content, size, blocks }
}

/** Adds a block that is an object of the bucket. */
export function addObjectBlock(
  context: StoreContext,
  content: Content,
  object: { readonly id: number; readonly size: number },
): Content {
  checkBlockCount(content.blocks + 1)
  context.database.run(ADD, content.id + content.blocks, object.size, object.id, null)
  context.database.run(
    "UPDATE helix_fs_objects SET refs = refs + 1, state = 'stored' WHERE id = ?",
    object.id,
  )
  return { ...content, size: content.size + object.size, blocks: content.blocks + 1 }
}

function checkBlockCount(count: number): void {
  if (count <= BLOCKS_PER_CONTENT) return
  throw new FileSystemError('too-large', '/', {
    detail: `it would have ${count} blocks, the limit is ${BLOCKS_PER_CONTENT}`,
  })
}
