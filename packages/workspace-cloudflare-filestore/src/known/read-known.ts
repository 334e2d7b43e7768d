import type { FileStoreSqlRow } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'
import { flags, hasFlag, type TreeNode } from '../tree/node.ts'

/** The tables have the version at which the known nodes were observed. */
const IS_CURRENT = 'SELECT 1 AS is_current FROM helix_fs_state WHERE version = ?'

/** The only block of a content, while the tables have the version at which it was observed. */
const READ = (data: string): string => `SELECT ${data} AS data FROM helix_fs_blocks
  WHERE id = ? AND (SELECT version FROM helix_fs_state) = ?`

const READS = { bytes: READ('data'), text: READ('CAST(data AS TEXT)') } as const

/** A known node of a normalised path, if the tables have not changed since. Else undefined. */
export function recallNode(context: StoreContext, path: string): TreeNode | undefined {
  const { known } = context.shared
  const node = known.node(context.namespace.id, path)
  if (node === undefined || known.version === undefined) return undefined
  if (context.database.get(IS_CURRENT, known.version) !== undefined) return node
  known.forget()
  return undefined
}

/** The content of a known file of one block, as the column `data`. Else undefined. */
export function readKnown(
  context: StoreContext,
  path: string,
  form: keyof typeof READS,
): FileStoreSqlRow | undefined {
  const { known } = context.shared
  const content = known.node(context.namespace.id, path)?.content
  if (content?.blocks !== 1 || hasFlag(content, flags.spilled)) return undefined
  if (known.version === undefined || content.size > context.limits.maxWholeReadBytes) {
    return undefined
  }
  const row = context.database.get(READS[form], content.id, known.version)
  if (row === undefined) known.forget()
  return row
}
