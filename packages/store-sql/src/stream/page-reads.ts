import { runTogether, type SqlDatabase } from '../sql-database.ts'
import { SqlError } from '../sql-error.ts'
import {
  NewestPages,
  type PageRequest,
  type PageResult,
  PageTransaction,
  readPage,
} from './read-page.ts'

interface Waiting {
  readonly request: PageRequest
  readonly resolve: (result: PageResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads pages for all readers of a database. Those that ask in one turn, as many readers of one
 * stream do after each write, share a transaction, and so do those that ask while another one is
 * under way; each page is read and parsed once.
 */
export class PageReads {
  static readonly #known = new WeakMap<SqlDatabase, PageReads>()

  readonly #database: SqlDatabase
  readonly #newest = new NewestPages()
  #waiting: Waiting[] = []
  #reads = false

  static of(database: SqlDatabase): PageReads {
    const known = PageReads.#known.get(database)
    if (known !== undefined) return known
    const made = new PageReads(database)
    PageReads.#known.set(database, made)
    return made
  }

  private constructor(database: SqlDatabase) {
    this.#database = database
  }

  /** Reads a stream for one reader. @throws {SqlError} */
  read(request: PageRequest): Promise<PageResult> {
    const { promise, resolve, reject } = Promise.withResolvers<PageResult>()
    this.#waiting.push({ request, resolve, reject })
    if (!this.#reads) {
      this.#reads = true
      queueMicrotask(() => void this.#drain())
    }
    return promise
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting
      this.#waiting = []
      await this.#readAll(waiting)
    }
    this.#reads = false
  }

  async #readAll(waiting: readonly Waiting[]): Promise<void> {
    try {
      const settle = await this.#database.read((sql) => {
        const transaction = new PageTransaction(sql, this.#newest)
        const works = waiting.map((one) => () => answer(transaction, one))
        return runTogether(sql, works)
      })
      for (const each of settle) each()
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}

/** What is wrong with one stream does not disturb the readers of others. */
function answer(transaction: PageTransaction, { request, resolve, reject }: Waiting): () => void {
  try {
    const result = readPage(transaction, request)
    return () => resolve(result)
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    return () => reject(error)
  }
}
