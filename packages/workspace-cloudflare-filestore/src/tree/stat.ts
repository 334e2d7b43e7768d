import type { FileStat } from '@helix-agents/core/provider'
import type { StoreContext } from '../store-context.ts'
import type { TreeNode } from './node.ts'

/** Of another namespace, also a later one of the same name, no version looks current. */
export function versionToken(context: StoreContext, node: Pick<TreeNode, 'version'>): string {
  return `${context.namespace.publicId.slice(3, 11)}.${node.version}`
}

export function toStat(context: StoreContext, path: string, node: TreeNode): FileStat {
  return {
    path,
    type: node.content === undefined ? 'directory' : 'file',
    size: node.content?.size ?? 0,
    mtime: new Date(node.modifiedMs),
    version: versionToken(context, node),
  }
}
