import { WorkspaceFailedError } from '@helix-agents/core'
import { addToLine, type Namespace } from '../namespaces/namespaces.ts'
import type { StoreContext } from '../store-context.ts'
import { subtreeOf } from '../tree/place.ts'
import { shareFiles } from '../content/share-files.ts'
import { allocateVersion } from '../tree/store-node.ts'
import { isForkedAtOnce, MAX_SNAPSHOT_ENTRIES } from '../tree/subtree-work.ts'

const COPY = `INSERT INTO helix_fs_nodes
    (namespace, directory, name, content, size, blocks, flags, mtime, version)
  SELECT ?1, directory, name, content, size, blocks, flags, mtime, ?2
  FROM helix_fs_nodes WHERE namespace = ?3`

/**
 * Makes a namespace with the files of another one, in one transaction. Contents are shared until one
 * of both changes.
 * @param context of the namespace that is copied
 * @throws {WorkspaceFailedError} `provider-failed` for more entries than one transaction copies in time.
 */
export function forkNamespace(
  context: StoreContext,
  made: Pick<Namespace, 'kind' | 'line' | 'session'>,
): Namespace {
  const { database, namespace } = context
  const all = subtreeOf('/')
  return database.transaction(() => {
    if (!isForkedAtOnce(context)) {
      const limit = `at most ${MAX_SNAPSHOT_ENTRIES} files and directories, with short paths`
      throw new WorkspaceFailedError('provider-failed', `too many files for a snapshot: ${limit}`, {
        hint: 'Remove files that are not needed, or take none.',
      })
    }
    shareFiles(context, all)
    const version = allocateVersion(context)
    const fork = addToLine(database, { ...made, createdMs: context.now(), version })
    database.run(COPY, fork.id, version, namespace.id)
    return fork
  })
}
