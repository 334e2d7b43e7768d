/**
 * Shares out what is reached among the tests that run, and the file when there are none: what loading
 * reaches counts for all later files of the process, which do not load it again.
 */
export class ReachedMutants {
  readonly #seen: Set<number>
  /** Tests that run now: several of them where they are concurrent. */
  readonly #running = new Map<string, Set<number>>()
  readonly #loaded: Set<number>
  readonly #outside = new Set<number>()
  #isLoading = true

  /**
   * @param seen is emptied again and again.
   * @param loaded what loading has reached, also where a test was the first to load it.
   */
  constructor(seen: Set<number>, loaded = new Set<number>()) {
    this.#seen = seen
    this.#loaded = loaded
  }

  /** What was reached while files were loaded. */
  get loaded(): number[] {
    return [...this.#loaded]
  }

  /** What the file has reached outside of tests, and not by loading. */
  get outside(): number[] {
    this.#share()
    return [...this.#outside]
  }

  startFile(): void {
    this.#share()
    this.#outside.clear()
    this.#isLoading = true
  }

  endLoading(): void {
    this.#share()
    this.#isLoading = false
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
    const outside = this.#isLoading ? this.#loaded : this.#outside
    const takers = this.#running.size === 0 ? [outside] : this.#running.values()
    for (const taker of takers) for (const id of this.#seen) taker.add(id)
    this.#seen.clear()
  }
}
