const MAX_REMEMBERED = 4096

/** What one provider has found out about sandboxes. A loss of this memory changes no truth. */
export class ProviderMemory {
  readonly #losses = new Map<string, number>()
  readonly #ended = new Set<string>()

  /**
   * The disk of a sandbox is gone for a session, which the open that follows reports.
   * @param seenMs when it was last there.
   */
  noteLoss(key: string, seenMs: number): void {
    if (this.#losses.size >= MAX_REMEMBERED) this.#losses.clear()
    this.#losses.set(key, seenMs)
  }

  /** Consumes a loss that is reported now. */
  takeLoss(key: string): number | undefined {
    const seenMs = this.#losses.get(key)
    this.#losses.delete(key)
    return seenMs
  }

  /** A life of a sandbox is over: asking for it would only start another one. */
  noteEnd(lifetime: string): void {
    if (this.#ended.size >= MAX_REMEMBERED) this.#ended.clear()
    this.#ended.add(lifetime)
  }

  isEnded(lifetime: string): boolean {
    return this.#ended.has(lifetime)
  }
}
