import { dropUnlinked } from '../content/release-content.ts'
import { numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { subtreeOf } from '../tree/place.ts'
import { removeSubtree } from '../tree/remove-subtree.ts'
import { allocateVersion } from '../tree/store-node.ts'

/** Removes a namespace with all its files; what it has in the bucket is left to the collector. */
export function deleteNamespace(context: StoreContext): void {
  const { database, namespace } = context
  database.transaction(() => {
    removeSubtree(context, subtreeOf('/'))
    dropUnlinkedOf(context)
    allocateVersion(context)
    database.run('DELETE FROM helix_fs_namespaces WHERE id = ?', namespace.id)
  })
}

function dropUnlinkedOf(context: StoreContext): void {
  const rows = context.database.all(
    'SELECT content FROM helix_fs_unlinked WHERE namespace = ?',
    context.namespace.id,
  )
  for (const row of rows) {
    const content = numberOf(row, 'content')
    if (!context.shared.contents.has(content)) dropUnlinked(context, content)
  }
}
