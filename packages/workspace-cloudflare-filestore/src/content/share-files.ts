import type { StoreContext } from '../store-context.ts'
import { flags } from '../tree/node.ts'
import type { SubtreeRange } from '../tree/place.ts'

/** Files of a range: namespace, start and end of the directories are bound first. */
const FILES = 'namespace = ?1 AND directory >= ?2 AND directory < ?3 AND content IS NOT NULL'

const COUNT_IN = `INSERT INTO helix_fs_shares (content, refs)
  SELECT content, 2 FROM helix_fs_nodes WHERE ${FILES}
  ON CONFLICT (content) DO UPDATE SET refs = refs + 1`

const MARK = `UPDATE helix_fs_nodes SET flags = flags | ${flags.shared} WHERE ${FILES}`

/** Counts one more reference to the content of each file of a range: a copy of its node follows. */
export function shareFiles({ database, namespace }: StoreContext, range: SubtreeRange): void {
  const bindings = [namespace.id, range.start, range.end]
  database.run(COUNT_IN, ...bindings)
  database.run(MARK, ...bindings)
}
