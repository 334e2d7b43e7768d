import type { StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag } from '../tree/node.ts'
import type { WriteTarget } from '../tree/write-target.ts'
import { addContent } from './add-blocks.ts'
import type { NewData } from './new-data.ts'
import { releaseContent } from './release-content.ts'
import { rewriteBlocks } from './rewrite-blocks.ts'

/** Stores data for a target, in place of its old content. */
export function storeContent(context: StoreContext, target: WriteTarget, data: NewData): Content {
  const before = target.node?.content
  if (before !== undefined && isOwn(context, before) && !hasFlag(before, flags.spilled)) {
    return rewriteBlocks(context, before, data)
  }
  if (before !== undefined) releaseContent(context, before)
  return addContent(context, newContentId(target), data)
}

/** A version is given once, and makes at most one content. */
export function newContentId(target: Pick<WriteTarget, 'version'>): number {
  return target.version * BLOCKS_PER_CONTENT
}

/** Whether no other file and no stream uses a content. */
export function isOwn(context: StoreContext, content: Content): boolean {
  return !hasFlag(content, flags.shared) && !context.shared.contents.has(content.id)
}
