/**
 * The two functions a suite needs from a test runner; the kit imports none. Vitest fits as
 * `{ it, fails: it.fails }`. Wrap `it` to run each behaviour somewhere else, such as inside a
 * Durable Object.
 */
export interface Runner {
  it(name: string, run: () => Promise<void>, timeoutMs: number): void
  /** Passes only when `run` rejects. */
  fails(name: string, run: () => Promise<void>, timeoutMs: number): void
}
