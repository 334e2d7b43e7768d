/**
 * Names of the files that hold the outputs of a running command. They are used again, as
 * removing files would cost each command a process; what they hold is overwritten.
 */
export class Slots {
  readonly #prefix: string
  readonly #free: string[] = []
  #count = 0

  /** @param prefix Unlike that of any other driver of the same container. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /**
   * A name that no other command uses until it is given back.
   * @param isFresh Never used before: its files are read while the command starts.
   */
  take(isFresh: boolean): { readonly name: string; giveBack(): void } {
    const used = isFresh ? undefined : this.#free.pop()
    const name = used ?? `s-${this.#prefix}-${this.#count++}`
    return { name, giveBack: () => this.#free.push(name) }
  }
}
