import type { StoreContext } from '../store-context.ts'
import type { Content, TreeNode } from '../tree/node.ts'
import { storeFile } from '../tree/store-node.ts'
import { resolveTarget, type WriteTarget } from '../tree/write-target.ts'

/** A file that was stored. */
export interface ChangedFile {
  readonly node: TreeNode
  readonly content: Content
}

/**
 * Resolves a path, stores its new content by `store` and links the path to it, in one transaction.
 * The path is normalised.
 */
export function changeFile(
  context: StoreContext,
  path: string,
  store: (target: WriteTarget) => Content,
): ChangedFile {
  const { database, namespace, shared } = context
  return database.transactionAt(
    () => {
      const target = resolveTarget(context, path)
      const content = store(target)
      return { target, content, node: storeFile(context, target, content) }
    },
    ({ target, node, content }) => {
      const files = target.node === undefined ? target.missing.length + 1 : 0
      const bytes = content.size - (target.node?.content?.size ?? 0)
      shared.known.observeChange(namespace.id, path, { node, growth: { bytes, files } })
    },
  )
}
