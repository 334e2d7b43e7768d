import type { TransferOptions } from '@helix-agents/core/provider'
import { releaseContent } from '../content/release-content.ts'
import type { StoreContext } from '../store-context.ts'
import { type Content, flags } from './node.ts'
import { placeOf, subtreeOf } from './place.ts'
import { checkFileSize, checkQuota } from './quota.ts'
import { shareFiles } from '../content/share-files.ts'
import { makeDirectory, makeParents, storeFile } from './store-node.ts'
import { measureSubtree, planTransfer, type Transfer } from './transfer-plan.ts'

/** Copies a file or a subtree. No content is copied: both refer to the same, until one changes. */
export function copy(
  context: StoreContext,
  paths: readonly [from: string, to: string],
  options: TransferOptions | undefined,
): void {
  context.database.transaction(() => {
    const transfer = planTransfer(context, paths, options)
    if (transfer === undefined) return
    const { content } = transfer.node
    if (content === undefined) copySubtree(context, transfer)
    else copyFile(context, transfer, content)
  })
}

function copyFile(context: StoreContext, transfer: Transfer, content: Content): void {
  const { target } = transfer
  const replaced = target.node?.content
  const before = replaced?.size ?? 0
  checkFileSize(context, target.path, { before, after: content.size })
  const files = target.node === undefined ? target.missing.length + 1 : 0
  checkQuota(context, target, { bytes: content.size - before, files })
  const { directory, name } = placeOf(transfer.from)
  context.database.run(
    `INSERT INTO helix_fs_shares (content, refs) VALUES (?, 2)
      ON CONFLICT (content) DO UPDATE SET refs = refs + 1`,
    content.id,
  )
  context.database.run(
    `UPDATE helix_fs_nodes SET flags = flags | ${flags.shared}
      WHERE namespace = ? AND directory = ? AND name = ?`,
    context.namespace.id,
    directory,
    name,
  )
  // Only now: what is replaced may be an earlier copy of the same content.
  if (replaced !== undefined) releaseContent(context, replaced)
  storeFile(context, target, { ...content, flags: content.flags | flags.shared })
}

function copySubtree(context: StoreContext, transfer: Transfer): void {
  const { database, namespace } = context
  const { from, target } = transfer
  const size = measureSubtree(context, transfer)
  checkFileSize(context, target.path, { before: 0, after: size.largestFile })
  const files = target.missing.length + 1 + size.nodes
  checkQuota(context, target, { bytes: size.bytes, files })
  const range = subtreeOf(from)
  shareFiles(context, range)
  makeParents(context, target)
  makeDirectory(context, target.path, target.version)
  database.run(
    `INSERT INTO helix_fs_nodes
        (namespace, directory, name, content, size, blocks, flags, mtime, version)
      SELECT namespace, ?4 || substr(directory, length(?2) + 1), name, content, size, blocks, flags,
        ?5, ?6
      FROM helix_fs_nodes WHERE namespace = ?1 AND directory >= ?2 AND directory < ?3`,
    namespace.id,
    range.start,
    range.end,
    subtreeOf(target.path).start,
    context.now(),
    target.version,
  )
}
