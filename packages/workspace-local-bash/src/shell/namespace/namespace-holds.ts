import { NamespaceHold } from './namespace-hold.ts'

/** The namespaces of the commands of one shell, until each is known to be empty. */
export class NamespaceHolds {
  readonly #holds = new Set<NamespaceHold>()

  /** Whether it is certain that no process of these commands runs any more. */
  get areEmpty(): boolean {
    return [...this.#holds].every(({ isEmpty }) => isEmpty)
  }

  /**
   * @param leader The process that set the namespace up.
   * @param ended Settles when the leader has ended.
   */
  add(leader: number, ended: Promise<unknown>): NamespaceHold {
    const hold = new NamespaceHold(leader, ended)
    this.#holds.add(hold)
    const forget = (): void => void (hold.isEmpty && this.#holds.delete(hold))
    void ended.then(forget, forget)
    return hold
  }
}
