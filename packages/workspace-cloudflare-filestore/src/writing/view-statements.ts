import type { Namespace } from '../namespaces/namespaces.ts'

/** Writes to the views, see `version3` of the tables. */
export interface ViewStatements {
  /** Binds directory, name, content, mtime, version and data. */
  readonly change: string
  /** Binds directory, name, mtime, version and data. */
  readonly add: string
}

const statements = new WeakMap<Namespace, ViewStatements[]>()

/**
 * The statements for a namespace and the flags of a content. Both are numbers that stand in the
 * text: they are few, and bound anew for every write they would cost more than the write of a node.
 */
export function viewStatements(namespace: Namespace, flags: number): ViewStatements {
  let ofNamespace = statements.get(namespace)
  if (ofNamespace === undefined) {
    ofNamespace = []
    statements.set(namespace, ofNamespace)
  }
  return (ofNamespace[flags] ??= {
    change: `INSERT INTO helix_fs_changes VALUES (${namespace.id}, ${flags}, ?, ?, ?, ?, ?, ?)`,
    add: `INSERT INTO helix_fs_additions VALUES (${namespace.id}, ${flags}, ?, ?, ?, ?, ?)`,
  })
}
