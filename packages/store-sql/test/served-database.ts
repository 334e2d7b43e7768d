import type { SqlDatabase, SqlServerStatements, SqlStatements } from '@helix-agents/store-sql'

/**
 * Notes what is asked of a server beside its statements, which a SQLite database runs: only those
 * that both understand may come.
 */
export class ServedDatabase implements SqlDatabase {
  /** Statements, locks and notifications, each by its first words. */
  log: string[] = []
  /** The time by which leases begin and end; undefined: that of the caller. */
  now: number | undefined
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.read((sql) => work(this.#served(sql)))
  }

  write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.write((sql) => work(this.#served(sql)))
  }

  onForeignWrite(listener: () => void): () => void {
    return this.#database.onForeignWrite(listener)
  }

  #served(sql: SqlStatements): SqlStatements {
    const note = (statement: string): string => {
      this.log.push(tableOf(statement))
      return statement
    }
    const server: SqlServerStatements = {
      lock: (statement, ...values) => {
        this.log.push(`lock ${tableOf(statement)} ${values.join()}`)
      },
      now: () => this.now,
      together: (works) => {
        this.log.push(`together ${works.length}`)
        return works.map((work) => work())
      },
      notify: (streams, replaced) => {
        this.log.push(`notify ${streams.join()} replaced ${replaced?.join()}`)
      },
    }
    return {
      run: (statement, ...values) => sql.run(note(statement), ...values),
      get: (statement, ...values) => sql.get(note(statement), ...values),
      all: (statement, ...values) => sql.all(note(statement), ...values),
      server,
    }
  }
}

/** The verb of a statement and the table that it names first. */
function tableOf(statement: string): string {
  const [verb = ''] = statement.split(' ')
  return `${verb} ${/helix_(\w+)/.exec(statement)?.[1] ?? ''}`.trim()
}
