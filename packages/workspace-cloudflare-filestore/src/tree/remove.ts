import { FileSystemError } from '@helix-agents/core'
import { createTimeSlice, normalizePath } from '@helix-agents/core/provider'
import { releaseContent } from '../content/release-content.ts'
import { numberOf, textOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { findNode, requireNode } from './find-node.ts'
import { type Place, type SubtreeRange, subtreeOf } from './place.ts'
import { removeFrom, removeNode, removeSubtree } from './remove-subtree.ts'
import { allocateVersion } from './store-node.ts'
import { isRemovedAtOnce } from './subtree-work.ts'

/** Entries of a step, and bytes of their contents. */
const STEP_ENTRIES = 1000
const STEP_BYTES = 16 * 1024 * 1024

/** From the end of the key: what lies in a directory comes before the directory. */
const LAST = `SELECT directory, name, size FROM helix_fs_nodes
  WHERE namespace = ? AND directory >= ? AND directory < ?
  ORDER BY directory DESC, name DESC LIMIT ${STEP_ENTRIES}`

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
    allocateVersion(context)
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

/** Removes a directory with all below it, a transaction at a time. The path is normalised. */
async function removeInSteps(context: StoreContext, path: string): Promise<void> {
  const slice = createTimeSlice()
  while (!context.database.transaction(() => removeStep(context, path))) await slice.pause()
}

/** True: this was the last step. */
function removeStep(context: StoreContext, path: string): boolean {
  const isLast = removeLast(context, subtreeOf(path))
  // Another caller may have removed it in between, and put a file in its place.
  if (isLast && findNode(context, path)?.content === undefined) removeNode(context, path)
  allocateVersion(context)
  return isLast
}

/** Removes the last nodes of a range, as many as a step takes. True: none is left. */
export function removeLast(context: StoreContext, range: SubtreeRange): boolean {
  const from = startOfStep(context, range)
  if (from === undefined) removeSubtree(context, range)
  else removeFrom(context, from, range.end)
  return from === undefined
}

/** Where a step begins that goes to the end of the range; undefined when it takes all of it. */
function startOfStep(
  { database, namespace }: StoreContext,
  range: SubtreeRange,
): Place | undefined {
  const rows = database.all(LAST, namespace.id, range.start, range.end)
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    bytes += numberOf(row, 'size')
    const isFull = index + 1 === STEP_ENTRIES || bytes > STEP_BYTES
    if (isFull) return { directory: textOf(row, 'directory'), name: textOf(row, 'name') }
  }
  return undefined
}
