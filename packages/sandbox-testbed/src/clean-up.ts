/** What has to be undone, latest first. */
export class CleanUp {
  readonly #steps: Array<() => unknown> = []
  #result: Promise<void> | undefined

  /** Adds a step that undoes what was just done. */
  add(step: () => unknown): void {
    this.#steps.unshift(step)
  }

  /**
   * Undoes everything, once. A step that fails does not keep the others from running; its error is
   * thrown at the end.
   */
  run(): Promise<void> {
    this.#result ??= this.#run()
    return this.#result
  }

  async #run(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
