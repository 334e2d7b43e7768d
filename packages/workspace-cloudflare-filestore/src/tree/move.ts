import type { TransferOptions } from '@helix-agents/core/provider'
import { releaseContent } from '../content/release-content.ts'
import type { StoreContext } from '../store-context.ts'
import { subtreeOf } from './place.ts'
import { checkQuota } from './quota.ts'
import { removeNode } from './remove-subtree.ts'
import { addNode, makeParents } from './store-node.ts'
import { measureSubtree, planTransfer, type Transfer } from './transfer-plan.ts'

/**
 * Renames a file or a subtree. What moves gets a new version, which no earlier file at its new path
 * had.
 */
export function move(
  context: StoreContext,
  paths: readonly [from: string, to: string],
  options: TransferOptions | undefined,
): void {
  context.database.transaction(() => {
    const transfer = planTransfer(context, paths, options)
    if (transfer !== undefined) moveNode(context, transfer)
  })
}

function moveNode(context: StoreContext, transfer: Transfer): void {
  const { from, node, target } = transfer
  checkQuota(context, target, { bytes: 0, files: target.missing.length })
  if (node.content === undefined) measureSubtree(context, transfer)
  makeParents(context, target)
  removeNode(context, from)
  if (target.node !== undefined) {
    if (target.node.content !== undefined) releaseContent(context, target.node.content)
    removeNode(context, target.path)
  }
  addNode(context, target.path, { ...node, version: target.version })
  if (node.content === undefined) moveBelow(context, transfer)
}

function moveBelow(context: StoreContext, transfer: Transfer): void {
  const range = subtreeOf(transfer.from)
  context.database.run(
    `UPDATE helix_fs_nodes
      SET directory = ?4 || substr(directory, length(?2) + 1), version = ?5
      WHERE namespace = ?1 AND directory >= ?2 AND directory < ?3`,
    context.namespace.id,
    range.start,
    range.end,
    subtreeOf(transfer.target.path).start,
    transfer.target.version,
  )
}
