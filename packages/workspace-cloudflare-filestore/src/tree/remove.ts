import { FileSystemError, normalizePath } from '@helix-agents/core'
import { releaseContent } from '../content/release-content.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import { type SubtreeRange, subtreeOf } from './place.ts'
import { removeInSteps } from './remove-steps.ts'
import { removeNode, removeSubtree } from './remove-subtree.ts'
import { makeVersion } from './store-node.ts'
import { isRemovedAtOnce } from './subtree-work.ts'

/**
 * Removes what is at a path. A tree that one transaction can remove in time is gone before the call
 * returns; a larger one goes in steps, each a transaction: others run in between, and a crash leaves
 * what was not removed yet, as a tree.
 */
export function remove(
  context: StoreContext,
  path: string,
  recursive: boolean,
): void | Promise<void> {
  const normal = normalizePath(path)
  const isRemoved = context.database.transaction(() => {
    const node = requireNode(context, normal)
    if (node.content !== undefined) releaseContent(context, node.content)
    else if (!removeBelow(context, path, { range: subtreeOf(normal), recursive })) return false
    removeNode(context, normal)
    makeVersion(context)
    return true
  })
  return isRemoved ? undefined : removeInSteps(context, normal)
}

/** False when it is too much for one transaction: nothing was changed. */
function removeBelow(
  context: StoreContext,
  path: string,
  removal: { readonly range: SubtreeRange; readonly recursive: boolean },
): boolean {
  const { range, recursive } = removal
  if (!recursive) {
    const [child] = context.database.all(
      `SELECT 1 AS present FROM helix_fs_nodes
        WHERE namespace = ? AND directory >= ? AND directory < ? LIMIT 1`,
      context.namespace.id,
      range.start,
      range.end,
    )
    if (child !== undefined) throw new FileSystemError('not-empty', path)
    return true
  }
  if (!isRemovedAtOnce(context, range)) return false
  removeSubtree(context, range)
  return true
}
