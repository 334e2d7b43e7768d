import { statSync } from 'node:fs'
import type { Clock } from '@helix-agents/core'
import { SqlError } from '@helix-agents/store-sql'

/** A write finds out so soon that the file is gone. */
const CHECK_MS = 1000

/**
 * Whether the file of a connection is still where it was opened. One that was moved, replaced or
 * removed is written on by SQLite without an error, and what is written is lost to other processes.
 */
export class FilePlace {
  readonly #path: string
  readonly #clock: Clock
  readonly #opened: string | undefined
  #checkedAt: number
  #isMoved = false

  /** @param path of a file that is open; `:memory:` is always in its place. */
  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
    this.#checkedAt = clock.now()
    this.#opened = path === ':memory:' ? undefined : identityOf(path)
  }

  /** Checks at most once a second. @throws {SqlError} `moved`, from then on always. */
  assertKept(): void {
    if (this.#opened === undefined) return
    const now = this.#clock.now()
    if (!this.#isMoved && now - this.#checkedAt >= 0 && now - this.#checkedAt < CHECK_MS) return
    this.#checkedAt = now
    this.#isMoved ||= identityOf(this.#path) !== this.#opened
    if (this.#isMoved) throw new SqlError('moved', 'another file, or none, is at the path')
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`
}
