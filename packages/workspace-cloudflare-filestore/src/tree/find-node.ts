import { FileSystemError, parentPath } from '@helix-agents/core'
import { numberOf } from '../storage/columns.ts'
import { lost } from '../storage/database.ts'
import type { SqlRow } from '../storage/ports.ts'
import type { StoreContext } from '../store-context.ts'
import { NODE_COLUMNS, toNode, type TreeNode } from './node.ts'
import { placeOf } from './place.ts'

const FIND = `SELECT ${NODE_COLUMNS}, (SELECT version FROM helix_fs_state) AS counter
  FROM helix_fs_nodes n WHERE n.namespace = ? AND n.directory = ? AND n.name = ?`

/** The node of a normalised path, or undefined. The root has none. */
export function findNode(context: StoreContext, path: string): TreeNode | undefined {
  const { directory, name } = placeOf(path)
  const row = context.database.get(FIND, context.namespace.id, directory, name)
  return row === undefined ? undefined : seeNode(context, path, row)
}

/** Reads a node, and remembers it as of the version of the tables, `counter`. */
export function seeNode(context: StoreContext, path: string, row: SqlRow): TreeNode {
  const { known } = context.shared
  const node = toNode(row)
  known.seeVersion(numberOf(row, 'counter'))
  known.seeNode(context.namespace.id, path, node)
  return node
}

/** The tables are as they were when the nodes that are known were seen. */
const IS_CURRENT = 'SELECT 1 AS is_current FROM helix_fs_state WHERE version = ?'

/** A node that was seen before and is still the same; undefined when that is not known. */
function recallNode(context: StoreContext, path: string): TreeNode | undefined {
  const { known } = context.shared
  const node = known.node(context.namespace.id, path)
  if (node === undefined || known.version === undefined) return undefined
  if (context.database.get(IS_CURRENT, known.version) !== undefined) return node
  known.forget()
  return undefined
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
