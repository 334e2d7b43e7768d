/** Shares out what is reached among the tests that run, and the file when there are none. */
export class ReachedMutants {
  readonly #seen: Set<number>
  /** Tests that run now: several of them where they are concurrent. */
  readonly #running = new Map<string, Set<number>>()
  readonly #outside = new Set<number>()

  /** @param seen is emptied again and again. */
  constructor(seen: Set<number>) {
    this.#seen = seen
  }

  /** What was reached outside of tests until now. */
  get outside(): number[] {
    this.#share()
    return [...this.#outside]
  }

  start(test: string): void {
    this.#share()
    this.#running.set(test, new Set())
  }

  /** @returns what was reached while the test ran. */
  end(test: string): number[] {
    this.#share()
    const reached = [...(this.#running.get(test) ?? [])]
    this.#running.delete(test)
    return reached
  }

  #share(): void {
    const takers = this.#running.size === 0 ? [this.#outside] : this.#running.values()
    for (const taker of takers) for (const id of this.#seen) taker.add(id)
    this.#seen.clear()
  }
}
