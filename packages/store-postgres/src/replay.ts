import type { SqlRow, SqlServerStatements, SqlStatements, SqlValue } from '@helix-agents/store-sql'

/** A statement on its way to the server, and its rows once they are there. */
export interface Asked {
  readonly statement: string
  readonly values: readonly SqlValue[]
  rows?: readonly SqlRow[]
}

/** Streams that a transaction has changed, and those of them of which it is out of date what readers hold. */
export interface Notified {
  readonly streams: readonly number[]
  readonly replaced: readonly number[]
}

/** What was asked so far, in the order of the work. */
interface Log {
  readonly entries: (Asked | readonly Log[])[]
  /** The entry that the work asks for next. */
  next: number
}

/** Thrown out of the work when it needs rows that are not there yet. */
const suspended = new Error('the work waits for the database')

const NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'

/** What one run of the work led to. */
export type Attempt<T> = { readonly isDone: true; readonly value: T } | { readonly isDone: false }

/**
 * Lets synchronous work run on a server that answers later. The work runs until it needs rows; the
 * statements up to there go to the server together, and then the work runs again from its begin, with
 * the rows that are known. It must not depend on anything else.
 */
export class Replay implements SqlStatements {
  readonly server: SqlServerStatements
  readonly #root: Log = { entries: [], next: 0 }
  readonly #notified = new Set<number>()
  readonly #replaced = new Set<number>()
  #log = this.#root
  #queue: Asked[] = []

  /** @param usesServerTime leases go by the clock of the server */
  constructor(usesServerTime: boolean) {
    this.server = {
      lock: (statement, ...values) => void this.#ask(statement, values),
      now: () => (usesServerTime ? Number(this.get(NOW)?.['now']) : undefined),
      together: (works) => this.#together(works),
      notify: (streams, replaced = []) => {
        for (const stream of streams) this.#notified.add(stream)
        for (const stream of replaced) this.#replaced.add(stream)
      },
    }
  }

  /** The streams that the work has changed. */
  get notified(): Notified {
    return { streams: [...this.#notified], replaced: [...this.#replaced] }
  }

  /** Runs the work as far as it gets. @throws what the work throws */
  attempt<T>(work: (sql: SqlStatements) => T): Attempt<T> {
    this.#log = this.#root
    this.#root.next = 0
    this.#notified.clear()
    this.#replaced.clear()
    try {
      return { isDone: true, value: work(this) }
    } catch (error) {
      if (error === suspended) return { isDone: false }
      throw error
    }
  }

  /** The statements that the server does not have yet. */
  take(): readonly Asked[] {
    const queue = this.#queue
    this.#queue = []
    return queue
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.#ask(statement, values)
  }

  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    return this.all(statement, ...values)[0]
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    const { rows } = this.#ask(statement, values)
    if (rows === undefined) throw suspended
    return rows
  }

  #ask(statement: string, values: readonly SqlValue[]): Asked {
    const known = this.#log.entries[this.#log.next++]
    if (known === undefined) {
      const asked = { statement, values }
      this.#log.entries.push(asked)
      this.#queue.push(asked)
      return asked
    }
    if ('statement' in known && known.statement === statement) return known
    throw new TypeError('the work of a transaction asked for something else when it ran again')
  }

  /** Each work has a log of its own. All of them run as far as they get. */
  #together<T>(works: readonly (() => T)[]): readonly T[] {
    const outer = this.#log
    const logs = this.#logsOf(works.length)
    const results: T[] = []
    for (const [index, work] of works.entries()) {
      this.#log = logs[index] ?? outer
      this.#log.next = 0
      try {
        results.push(work())
      } catch (error) {
        if (error !== suspended) throw error
      }
    }
    this.#log = outer
    if (results.length < works.length) throw suspended
    return results
  }

  #logsOf(count: number): readonly Log[] {
    const known = this.#log.entries[this.#log.next++]
    if (known !== undefined && !('statement' in known)) return known
    const made = Array.from({ length: count }, (): Log => ({ entries: [], next: 0 }))
    this.#log.entries.push(made)
    return made
  }
}
