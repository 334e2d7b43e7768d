/** Lets one through at a time, in the order of asking. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is our turn; the turn lasts until the returned function is called. */
  async take(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
