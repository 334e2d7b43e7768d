import { FileSystemError } from '@helix-agents/core'
import { parentPath } from '@helix-agents/core/provider'
import { numberOf } from '../sql/columns.ts'
import { lost } from '../sql/database.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'
import { recallNode } from '../known/read-known.ts'
import { NODE_COLUMNS, toNode, type TreeNode } from './node.ts'
import { placeOf } from './place.ts'

const FIND = `SELECT ${NODE_COLUMNS}, (SELECT version FROM helix_fs_state) AS counter
  FROM helix_fs_nodes n WHERE n.namespace = ? AND n.directory = ? AND n.name = ?`

/** The node of a normalised path, or undefined. The root has none. */
export function findNode(context: StoreContext, path: string): TreeNode | undefined {
  const { directory, name } = placeOf(path)
  const row = context.database.get(FIND, context.namespace.id, directory, name)
  return row === undefined ? undefined : observeNode(context, path, row)
}

/** Reads a node and records it as known at the version of the tables, `counter`. */
export function observeNode(context: StoreContext, path: string, row: FileStoreSqlRow): TreeNode {
  const { known } = context.shared
  const node = toNode(row)
  known.observeVersion(numberOf(row, 'counter'))
  known.observeNode(context.namespace.id, path, node)
  return node
}

/** A directory that is always there. */
export function rootNode(context: StoreContext): TreeNode {
  return { content: undefined, modifiedMs: context.namespace.createdMs, version: 0 }
}

/**
 * The node of a normalised path.
 * @throws {FileSystemError} `not-found`.
 * @throws {WorkspaceEvictedError} `lost`.
 */
export function requireNode(context: StoreContext, path: string): TreeNode {
  if (path === '/') {
    assertAlive(context)
    return rootNode(context)
  }
  const node = recallNode(context, path) ?? findNode(context, path)
  if (node !== undefined) return node
  throw notFound(context, path)
}

/** Nothing at a path: a missing file, or the files of the namespace are gone. */
export function notFound(context: StoreContext, path: string): FileSystemError {
  assertAlive(context)
  return new FileSystemError('not-found', path)
}

/** @throws {WorkspaceEvictedError} `lost` when the namespace was removed. */
export function assertAlive(context: StoreContext): void {
  const row = context.database.get(
    'SELECT id FROM helix_fs_namespaces WHERE id = ?',
    context.namespace.id,
  )
  if (row === undefined) throw lost()
}

/**
 * The directories above a normalised path that are not there yet, the highest first.
 * @throws {FileSystemError} `not-directory` when a file is in the way.
 */
export function missingParents(context: StoreContext, path: string): string[] {
  const missing: string[] = []
  for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
    const node = findNode(context, parent)
    if (node?.content !== undefined) throw new FileSystemError('not-directory', path)
    if (node !== undefined) break
    missing.unshift(parent)
  }
  return missing
}
