import { type FileEntry, FileSystemError, normalizePath } from '@helix-agents/core'
import { numberOf, textOf } from '../storage/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import { subtreeOf } from './place.ts'

/** The order of the key is that of code points. */
const LIST = `SELECT name, size, content IS NULL AS is_directory FROM helix_fs_nodes
  WHERE namespace = ? AND directory = ? ORDER BY name`

/** The direct children of a directory: one range, however large the tree. */
export function list(context: StoreContext, path: string): FileEntry[] {
  const normal = normalizePath(path)
  const prefix = subtreeOf(normal).start
  const rows = context.database.all(LIST, context.namespace.id, prefix)
  if (rows.length === 0) assertDirectory(context, normal, path)
  return rows.map((row): FileEntry => {
    const name = textOf(row, 'name')
    const entry = { name, path: prefix + name }
    if (row.is_directory === 1) return { ...entry, type: 'directory' }
    return { ...entry, type: 'file', size: numberOf(row, 'size') }
  })
}

/** What has no children may be an empty directory, a file, or nothing. */
function assertDirectory(context: StoreContext, normal: string, path: string): void {
  const node = requireNode(context, normal)
  if (node.content !== undefined) throw new FileSystemError('not-directory', path)
}
