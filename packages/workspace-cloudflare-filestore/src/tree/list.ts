import { FileSystemError } from '@helix-agents/core'
import { type FileEntry, normalizePath } from '@helix-agents/core/provider'
import { textOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from './find-node.ts'
import { subtreeOf } from './place.ts'

/** With names of 255 bytes, those of a page fit into a value of 2 MB. */
const PAGE = 5000

/**
 * A page of children in the order of the key, which is that of code points. They are one row: names
 * hold no slash, and a row for each would cost more than to find it. A directory has no size.
 */
const LIST = `SELECT group_concat(name, '/') AS names,
    group_concat(CASE WHEN content IS NULL THEN '' ELSE size END, '/') AS sizes
  FROM (
    SELECT name, content, size FROM helix_fs_nodes
    WHERE namespace = ? AND directory = ? AND name > ? ORDER BY name LIMIT ${PAGE}
  )`

/** The direct children of a directory: one range, however large the tree. */
export function list(context: StoreContext, path: string): FileEntry[] {
  const normal = normalizePath(path)
  const prefix = subtreeOf(normal).start
  const entries: FileEntry[] = []
  for (;;) {
    const after = entries.at(-1)?.name ?? ''
    const page = context.database.get(LIST, context.namespace.id, prefix, after)
    if (page === undefined || page.names === null) break
    const names = textOf(page, 'names').split('/')
    const sizes = textOf(page, 'sizes').split('/')
    for (const [index, name] of names.entries()) {
      entries.push(toEntry(prefix, name, sizes[index] ?? ''))
    }
    if (names.length < PAGE) break
  }
  if (entries.length === 0) assertDirectory(context, normal, path)
  return entries
}

function toEntry(prefix: string, name: string, size: string): FileEntry {
  const path = prefix + name
  if (size === '') return { name, path, type: 'directory' }
  return { name, path, type: 'file', size: Number(size) }
}

/** What has no children may be an empty directory, a file, or nothing. */
function assertDirectory(context: StoreContext, normal: string, path: string): void {
  const node = requireNode(context, normal)
  if (node.content !== undefined) throw new FileSystemError('not-directory', path)
}
