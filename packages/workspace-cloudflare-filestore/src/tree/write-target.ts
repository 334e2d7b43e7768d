import { FileSystemError } from '@helix-agents/core'
import { parentPath, type WriteOptions } from '@helix-agents/core/provider'
import { numberOf } from '../sql/columns.ts'
import { lost } from '../sql/database.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'
import { missingParents, observeNode } from './find-node.ts'
import { NODE_COLUMNS, type TreeNode } from './node.ts'
import { placeOf } from './place.ts'
import { versionToken } from './stat.ts'

/** A write as the caller asked for it. */
export interface Write {
  readonly path: string
  readonly options: WriteOptions | undefined
}

/** Everything that decides about a change at one path, from one statement. */
export interface WriteTarget {
  readonly path: string
  readonly node: TreeNode | undefined
  /** Directories that must be made first, the highest first. */
  readonly missing: readonly string[]
  /** Of what the change makes. */
  readonly version: number
  readonly usedBytes: number
  readonly usedFiles: number
}

/** The parent comes along: a directory that is there has all its own parents. */
const RESOLVE = `SELECT c.version AS counter, s.bytes AS used_bytes, s.files AS used_files,
    n.name IS NOT NULL AS present, ${NODE_COLUMNS},
    p.name IS NOT NULL AS parent_present, p.content IS NOT NULL AS parent_is_file,
    p.mtime AS parent_mtime, p.version AS parent_version
  FROM helix_fs_namespaces s
  JOIN helix_fs_state c ON c.id = 1
  LEFT JOIN helix_fs_nodes n ON n.namespace = s.id AND n.directory = ?2 AND n.name = ?3
  LEFT JOIN helix_fs_nodes p ON p.namespace = s.id AND p.directory = ?4 AND p.name = ?5
  WHERE s.id = ?1`

/**
 * Resolves a normalised path that is about to be written.
 * @throws {FileSystemError} `not-directory` when a file is in the way.
 * @throws {WorkspaceEvictedError} `lost`.
 */
export function resolveTarget(context: StoreContext, path: string): WriteTarget {
  const place = placeOf(path)
  const parent = placeOf(parentPath(path))
  const row = context.database.get(
    RESOLVE,
    context.namespace.id,
    place.directory,
    place.name,
    parent.directory,
    parent.name,
  )
  if (row === undefined) throw lost()
  const { known } = context.shared
  const node = numberOf(row, 'present') === 1 ? observeNode(context, path, row) : undefined
  const used = {
    usedBytes: numberOf(row, 'used_bytes'),
    usedFiles: numberOf(row, 'used_files'),
  }
  known.observeVersion(numberOf(row, 'counter'))
  known.observeUsage(context.namespace.id, used)
  if (node === undefined && numberOf(row, 'parent_is_file') === 1) {
    throw new FileSystemError('not-directory', path)
  }
  if (row.parent_present === 1) observeParent(context, path, row)
  const hasParent = node !== undefined || parent.name === '' || row.parent_present === 1
  return {
    path,
    node,
    missing: hasParent ? [] : missingParents(context, path),
    version: known.nextVersion(numberOf(row, 'counter')),
    ...used,
  }
}

function observeParent(context: StoreContext, path: string, row: FileStoreSqlRow): void {
  context.shared.known.observeNode(context.namespace.id, parentPath(path), {
    content: undefined,
    modifiedMs: numberOf(row, 'parent_mtime'),
    version: numberOf(row, 'parent_version'),
  })
}

/** Whether the target is a directory that is there. */
export function isDirectory({ node, path }: WriteTarget): boolean {
  return path === '/' || (node !== undefined && node.content === undefined)
}

/**
 * Rejects a write that its options or a directory forbid.
 * @throws {FileSystemError} `is-directory`, `already-exists`, `stale-write`.
 */
export function checkWrite(
  context: StoreContext,
  target: WriteTarget,
  options: WriteOptions | undefined,
): void {
  const { node, path } = target
  if (isDirectory(target)) throw new FileSystemError('is-directory', path)
  if (options === undefined) return
  if (options.ifAbsent && node !== undefined) throw new FileSystemError('already-exists', path)
  const current = node === undefined ? undefined : versionToken(context, node)
  if (options.ifVersion !== undefined && options.ifVersion !== current) {
    const detail = current === undefined ? 'it was removed' : `now version ${current}`
    throw new FileSystemError('stale-write', path, { detail })
  }
}
