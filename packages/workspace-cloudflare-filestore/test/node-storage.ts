import type {
  FileStoreStorage,
  FileStoreSqlBinding,
  FileStoreSqlRow,
} from '@helix-agents/workspace-cloudflare-filestore'

/** The part of `node:sqlite` that is used; this folder has the types of workerd. */
interface Sqlite {
  readonly isTransaction: boolean
  exec(statement: string): void
  prepare(statement: string): { all(...bindings: unknown[]): Record<string, unknown>[] }
  close(): void
}
interface Node {
  readonly process: {
    getBuiltinModule(name: 'node:sqlite'): { DatabaseSync: new (path: string) => Sqlite }
  }
}
const { DatabaseSync } = (globalThis as unknown as Node).process.getBuiltinModule('node:sqlite')

/** As workerd does it: everything happens in a transaction, which is committed some time later. */
export class NodeStorage implements FileStoreStorage {
  readonly database: Sqlite
  readonly sql: FileStoreStorage['sql']
  #depth = 0

  /** @param path Of the database. Default: in memory. */
  constructor(path = ':memory:') {
    this.database = new DatabaseSync(path)
    this.database.exec('BEGIN')
    this.sql = {
      exec: (statement: string, ...bindings: FileStoreSqlBinding[]) => {
        const rows = this.database
          .prepare(statement)
          .all(...numbered(bindings))
          .map(toRow)
        return { toArray: () => rows }
      },
    }
  }

  transactionSync<T>(work: () => T): T {
    const name = `savepoint_${(this.#depth += 1)}`
    try {
      this.database.exec(`SAVEPOINT ${name}`)
      const result = work()
      this.database.exec(`RELEASE ${name}`)
      return result
    } catch (error) {
      if (this.database.isTransaction) this.database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`)
      throw error
    } finally {
      this.#depth -= 1
    }
  }

  commit(): void {
    this.database.exec('COMMIT; BEGIN')
  }

  /** No page more than there are, and this many. */
  limitTo(morePages: number): void {
    const [row] = this.database.prepare('PRAGMA page_count').all()
    const pages = Number(row?.page_count) + morePages
    this.database.exec(`PRAGMA max_page_count = ${pages}`)
  }

  /** What is left when the platform ends the object: what was not committed is gone. */
  restart(): void {
    if (this.database.isTransaction) this.database.exec('ROLLBACK')
    this.database.exec('PRAGMA max_page_count = 1000000; BEGIN')
  }
}

function numbered(bindings: readonly FileStoreSqlBinding[]): readonly unknown[] {
  return bindings.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value))
}

function toRow(row: Record<string, unknown>): FileStoreSqlRow {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? new Uint8Array(value).buffer : value,
  ])
  return Object.fromEntries(entries) as FileStoreSqlRow
}
