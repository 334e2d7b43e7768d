import {
  FileSystemError,
  isWithin,
  MAX_PATH_BYTES,
  normalizePath,
  type TransferOptions,
  utf8Length,
} from '@helix-agents/core'
import { numberOf } from '../storage/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import type { TreeNode } from './node.ts'
import { subtreeOf } from './place.ts'
import { isDirectory, lookAtTarget, type WriteTarget } from './write-target.ts'

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
  const target = lookAtTarget(context, to)
  if (to === '/' || target.node !== undefined) {
    if (!options?.overwrite) throw new FileSystemError('already-exists', paths[1])
    if (isDirectory(target)) throw new FileSystemError('is-directory', paths[1])
    if (node.content === undefined) throw new FileSystemError('not-directory', paths[1])
  }
  return from === to ? undefined : { from, node, target }
}

/** @throws {FileSystemError} `invalid-path` when a path would become too long at its new place. */
export function measureSubtree(context: StoreContext, transfer: Transfer): SubtreeSize {
  const range = subtreeOf(transfer.from)
  const row = context.database.get(
    `SELECT count(*) AS nodes, coalesce(sum(size), 0) AS bytes, coalesce(max(size), 0) AS largest,
        coalesce(max(length(CAST(directory AS BLOB)) + length(CAST(name AS BLOB))), 0) AS longest
      FROM helix_fs_nodes WHERE namespace = ? AND directory >= ? AND directory < ?`,
    context.namespace.id,
    range.start,
    range.end,
  )
  if (row === undefined) return { nodes: 0, bytes: 0, largestFile: 0 }
  const { path } = transfer.target
  const longest = numberOf(row, 'longest') + utf8Length(path) - utf8Length(transfer.from)
  if (longest > MAX_PATH_BYTES) {
    throw new FileSystemError('invalid-path', path, {
      detail: `a path below it would be longer than ${MAX_PATH_BYTES} bytes`,
    })
  }
  return {
    nodes: numberOf(row, 'nodes'),
    bytes: numberOf(row, 'bytes'),
    largestFile: numberOf(row, 'largest'),
  }
}
