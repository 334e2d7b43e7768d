import { FileSystemError } from '@helix-agents/core'
import {
  checkSubtreeFits,
  isWithin,
  normalizePath,
  pathDepth,
  type TransferOptions,
  utf8Length,
} from '@helix-agents/core/provider'
import { numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import type { TreeNode } from './node.ts'
import { subtreeOf } from './place.ts'
import { checkTransferredAtOnce } from './subtree-work.ts'
import { isDirectory, resolveTarget, type WriteTarget } from './write-target.ts'

/** A copy or a move that is allowed; the paths are normalised. */
export interface Transfer {
  readonly from: string
  readonly node: TreeNode
  readonly target: WriteTarget
}

/** What stands below a directory, all together. */
export interface SubtreeSize {
  readonly nodes: number
  readonly bytes: number
  readonly largestFile: number
}

/**
 * Checks a copy or a move; undefined when it would change nothing.
 * @throws {FileSystemError} `not-found`, `invalid-path`, `already-exists`, `is-directory`,
 * `not-directory` (a directory over a file, or below one).
 */
export function planTransfer(
  context: StoreContext,
  paths: readonly [from: string, to: string],
  options: TransferOptions | undefined,
): Transfer | undefined {
  const [from, to] = [normalizePath(paths[0]), normalizePath(paths[1])]
  const node = requireNode(context, from)
  if (node.content === undefined && isWithin(to, from)) {
    throw new FileSystemError('invalid-path', paths[1], { detail: 'it lies inside the source' })
  }
  const target = resolveTarget(context, to)
  if (to === '/' || target.node !== undefined) {
    if (!options?.overwrite) throw new FileSystemError('already-exists', paths[1])
    if (isDirectory(target)) throw new FileSystemError('is-directory', paths[1])
    if (node.content === undefined) throw new FileSystemError('not-directory', paths[1])
  }
  return from === to ? undefined : { from, node, target }
}

/**
 * @throws {FileSystemError} `invalid-path` when a path would be past the limits at its new place;
 * `too-large` when it is more than one transaction can do in time.
 */
export function measureSubtree(context: StoreContext, transfer: Transfer): SubtreeSize {
  checkTransferredAtOnce(context, transfer.from, transfer.target.path)
  const range = subtreeOf(transfer.from)
  const row = context.database.get(
    `SELECT count(*) AS nodes, coalesce(sum(size), 0) AS bytes, coalesce(max(size), 0) AS largest,
        coalesce(max(length(CAST(directory AS BLOB)) + length(CAST(name AS BLOB))), 0) AS longest,
        coalesce(max(length(directory) - length(replace(directory, '/', ''))), 0) AS deepest
      FROM helix_fs_nodes WHERE namespace = ? AND directory >= ? AND directory < ?`,
    context.namespace.id,
    range.start,
    range.end,
  )
  if (row === undefined) return { nodes: 0, bytes: 0, largestFile: 0 }
  checkSubtreeFits(transfer.target.path, {
    depth: Math.max(0, numberOf(row, 'deepest') - pathDepth(transfer.from)),
    bytes: Math.max(0, numberOf(row, 'longest') - utf8Length(transfer.from)),
  })
  return {
    nodes: numberOf(row, 'nodes'),
    bytes: numberOf(row, 'bytes'),
    largestFile: numberOf(row, 'largest'),
  }
}
