import { createTimeSlice } from '@helix-agents/core/provider'
import { dropUnlinked } from '../content/release-content.ts'
import { numberOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { StoreContext } from '../store-context.ts'
import { subtreeOf } from '../tree/place.ts'
import { removeLast } from '../tree/remove.ts'
import { removeSubtree } from '../tree/remove-subtree.ts'
import { allocateVersion } from '../tree/store-node.ts'
import { isRemovedAtOnce } from '../tree/subtree-work.ts'

/**
 * Removes a namespace with all its files; what it has in the bucket is left to the collector. One
 * transaction removes it where that is possible in time. Of a larger one it leaves a tombstone, so
 * that no handle finds the files any more; they are removed in steps, by this call or, after a crash,
 * by the next collection.
 */
export async function deleteNamespace(context: StoreContext): Promise<void> {
  const { database, namespace, shared } = context
  shared.removed.add(namespace.id)
  const isRemoved = database.transaction(() => {
    database.run('DELETE FROM helix_fs_namespaces WHERE id = ?', namespace.id)
    allocateVersion(context)
    if (isRemovedAtOnce(context, subtreeOf('/'))) {
      removeSubtree(context, subtreeOf('/'))
      dropUnlinkedOf(context)
      return true
    }
    context.onGarbage()
    database.run('INSERT OR IGNORE INTO helix_fs_removals (namespace) VALUES (?)', namespace.id)
    return false
  })
  if (!isRemoved) await finishRemoval(context)
}

/** Removes what a tombstone still has, a transaction at a time. */
export async function finishRemoval(context: StoreContext): Promise<void> {
  const slice = createTimeSlice()
  while (!context.database.transaction(() => removalStep(context))) await slice.pause()
}

/** Row ids of the namespaces whose removal is not finished. */
export function unfinishedRemovals(database: Database): readonly number[] {
  const rows = database.all('SELECT namespace FROM helix_fs_removals ORDER BY namespace')
  return rows.map((row) => numberOf(row, 'namespace'))
}

/** True: this was the last step. */
function removalStep(context: StoreContext): boolean {
  if (!removeLast(context, subtreeOf('/'))) return false
  dropUnlinkedOf(context)
  context.database.run('DELETE FROM helix_fs_removals WHERE namespace = ?', context.namespace.id)
  return true
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
