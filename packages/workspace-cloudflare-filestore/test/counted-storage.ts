import type {
  FileStoreStorage,
  FileStoreSqlBinding,
} from '@helix-agents/workspace-cloudflare-filestore'

/** A storage that notes its statements, transaction bounds left out. */
export function countStatements(storage: FileStoreStorage): {
  readonly storage: FileStoreStorage
  readonly statements: string[]
} {
  const statements: string[] = []
  const sql = {
    exec: (statement: string, ...bindings: FileStoreSqlBinding[]) => {
      statements.push(statement)
      return storage.sql.exec(statement, ...bindings)
    },
  }
  return {
    statements,
    storage: { sql, transactionSync: (work) => storage.transactionSync(work) },
  }
}
