/** Files from this size on come as streams, which is faster than base64 inside an answer. */
export const LARGE_BYTES = 1024 * 1024
const MAX_PATHS = 1000

/**
 * Which files were large when they were last seen. Only a guess: it saves the round trip that
 * asks for the size, and a wrong one costs no more than that.
 */
export class LargeFiles {
  readonly #paths = new Set<string>()

  record(path: string, sizeBytes: number): void {
    this.#paths.delete(path)
    if (sizeBytes < LARGE_BYTES) return
    this.#paths.add(path)
    const [oldest] = this.#paths
    if (this.#paths.size > MAX_PATHS && oldest !== undefined) this.#paths.delete(oldest)
  }

  has(path: string): boolean {
    return this.#paths.has(path)
  }
}
