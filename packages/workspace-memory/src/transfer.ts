import { FileSystemError } from '@helix-agents/core'
import { isWithin, normalizePath, type TransferOptions } from '@helix-agents/core/provider'
import type { FileTree } from './file-tree.ts'
import { DirectoryNode, type FileNode, type TreeNode } from './nodes.ts'

/** A copy or a move that is allowed; undefined when it would change nothing. */
export interface Transfer {
  readonly source: string
  readonly target: string
  readonly node: TreeNode
  /** The file that will be replaced. */
  readonly replaced: FileNode | undefined
}

/**
 * Checks a copy or a move.
 * @throws {FileSystemError} `not-found`, `invalid-path`, `already-exists`, `is-directory`,
 * `not-directory` (a directory over a file).
 */
export function planTransfer(
  tree: FileTree,
  paths: readonly [from: string, to: string],
  options: TransferOptions | undefined,
): Transfer | undefined {
  const [from, to] = paths
  const [source, target] = [normalizePath(from), normalizePath(to)]
  const node = tree.find(source)
  if (node === undefined) throw new FileSystemError('not-found', from)
  if (node instanceof DirectoryNode && isWithin(target, source)) {
    throw new FileSystemError('invalid-path', to, { detail: 'it lies inside the source' })
  }
  const replaced = fileToReplace(tree.find(target), to, options)
  if (replaced !== undefined && node instanceof DirectoryNode) {
    throw new FileSystemError('not-directory', to)
  }
  return replaced === node ? undefined : { source, target, node, replaced }
}

/** Only a file can be replaced, and only on demand. */
function fileToReplace(
  existing: TreeNode | undefined,
  to: string,
  options: TransferOptions | undefined,
): FileNode | undefined {
  if (existing === undefined) return undefined
  if (!options?.overwrite) throw new FileSystemError('already-exists', to)
  if (existing instanceof DirectoryNode) throw new FileSystemError('is-directory', to)
  return existing
}
