/** A map that forgets what was not used for longest. Every operation is O(1). */
export class BoundedMap<Key, Value> {
  readonly #entries: Map<Key, Value>
  readonly #capacity: number

  constructor(capacity: number, entries: Iterable<readonly [Key, Value]> = []) {
    this.#capacity = capacity
    this.#entries = new Map(entries)
    while (this.#entries.size > capacity) this.#dropOldest()
  }

  /** Looks without marking as used. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: Key, value: Value): void {
    // Only a new insertion moves the key to the young end.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#capacity) this.#dropOldest()
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }

  /** A copy, oldest first. */
  entries(): [Key, Value][] {
    return [...this.#entries]
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next()
    if (oldest.done !== true) this.#entries.delete(oldest.value)
  }
}
