import { numberOf } from '../sql/columns.ts'
import { lost } from '../sql/database.ts'
import type { StoreContext } from '../store-context.ts'
import type { Content, TreeNode } from './node.ts'
import { placeOf } from './place.ts'
import type { WriteTarget } from './write-target.ts'

const ADD = `INSERT INTO helix_fs_nodes
  (namespace, directory, name, content, size, blocks, flags, mtime, version)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

const CHANGE = `UPDATE helix_fs_nodes
  SET content = ?, size = ?, blocks = ?, flags = ?, mtime = ?, version = ?
  WHERE namespace = ? AND directory = ? AND name = ?`

/** What changes nodes and gives none a version makes one all the same: see `KnownNodes`. */
export function allocateVersion(context: StoreContext): number {
  const { database, shared } = context
  const row = database.get(
    'UPDATE helix_fs_state SET version = max(version + 1, ?) WHERE id = 1 RETURNING version',
    shared.known.nextVersion(0),
  )
  if (row === undefined) throw lost()
  const version = numberOf(row, 'version')
  shared.known.observeAllocated(version)
  return version
}

/** Lets a path have a content; the directories above it are made as well. */
export function storeFile(context: StoreContext, target: WriteTarget, content: Content): TreeNode {
  const node = { content, modifiedMs: context.now(), version: target.version }
  if (target.node === undefined) {
    makeParents(context, target)
    addNode(context, target.path, node)
    return node
  }
  const { directory, name } = placeOf(target.path)
  context.database.run(
    CHANGE,
    content.id,
    content.size,
    content.blocks,
    content.flags,
    node.modifiedMs,
    node.version,
    context.namespace.id,
    directory,
    name,
  )
  return node
}

/** Makes the missing directories above a target. */
export function makeParents(context: StoreContext, target: WriteTarget): void {
  for (const path of target.missing) makeDirectory(context, path, target.version)
}

export function makeDirectory(context: StoreContext, path: string, version: number): void {
  addNode(context, path, { content: undefined, modifiedMs: context.now(), version })
}

export function addNode(context: StoreContext, path: string, node: TreeNode): void {
  const { directory, name } = placeOf(path)
  const { content } = node
  context.database.run(
    ADD,
    context.namespace.id,
    directory,
    name,
    content?.id ?? null,
    content?.size ?? 0,
    content?.blocks ?? 0,
    content?.flags ?? 0,
    node.modifiedMs,
    node.version,
  )
}
