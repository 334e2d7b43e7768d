import type { Clock } from '@helix-agents/core'

const POLL_MS = 50

export interface ForeignWritesDeps {
  readonly clock: Clock
  /** A number that changes when another connection has written; `undefined` if it is unknown. */
  readonly readVersion: () => number | undefined
}

/**
 * Notices what other connections write, by asking a few times a second as long as somebody
 * listens. The timer does not keep the process alive.
 */
export class ForeignWrites {
  readonly #deps: ForeignWritesDeps
  readonly #listeners = new Set<() => void>()
  #seen: number | undefined
  #cancel: (() => void) | undefined

  constructor(deps: ForeignWritesDeps) {
    this.#deps = deps
  }

  /** Calls `listener` soon after another connection has written. The result stops that. */
  listen(listener: () => void): () => void {
    // Two listeners may be one function.
    const own = (): void => listener()
    if (this.#listeners.size === 0) this.#seen = this.#deps.readVersion()
    this.#listeners.add(own)
    if (this.#cancel === undefined) this.#schedule()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Calls the listeners once more: what they wait for does not come any more. */
  close(): void {
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    this.#stop()
    for (const listener of listeners) listener()
  }

  #schedule(): void {
    this.#cancel = this.#deps.clock.setTimer(POLL_MS, () => this.#poll())
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #poll(): void {
    this.#schedule()
    const version = this.#deps.readVersion()
    if (version === undefined || version === this.#seen) return
    this.#seen = version
    for (const listener of this.#listeners) listener()
  }
}
